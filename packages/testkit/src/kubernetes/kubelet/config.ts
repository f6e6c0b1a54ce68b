import type { KubernetesAccess } from '../api.ts'
import type { ObjectMeta } from '../objects.ts'
import type { Images } from './images.ts'

/** Configuration file of one node's kubelet. */
export interface KubeletConfig {
  readonly access: KubernetesAccess
  readonly node: string
  /** The node's own addresses, IPv4 first. */
  readonly addresses: readonly [string, string]
  /** Address ranges of its pods, IPv4 first. */
  readonly podCidrs: readonly [string, string]
  /** Network namespace of the node and the kubelet. */
  readonly namespace: string
  /** Files of its TLS server, and of the authority of its clients. */
  readonly serving: { readonly caFile: string; readonly certificateFile: string; readonly keyFile: string }
  /** Prefix of the names of pod namespaces. */
  readonly podNamespacePrefix: string
  /** Records, logs and switches of its pods. */
  readonly directory: string
  /** Program of pods whose image is not in `images`. */
  readonly podProgram: string
  /** Real programs: the container's command and arguments are appended. */
  readonly images: Images
}

/** Port of the health server on the node's addresses, as of the real kubelet: HTTP `/healthz`. */
export const KUBELET_HEALTH_PORT = 10248

/** Port of its TLS server, which the API server asks for logs. */
export const KUBELET_PORT = 10250

/** Name of a pod's network namespace. */
export const podPlaceName = (uid: string): string => `pod-${shortId(uid)}`

/** File that makes a pod's `/ready` answer 503. */
export const notReadyFile = (directory: string, uid: string): string => `${directory}/${shortId(uid)}.not-ready`

/** Log file of a container. */
export const podLogFile = (directory: string, { namespace, name }: ObjectMeta, container: string): string =>
  `${directory}/${namespace}_${name}_${container}.log`

/** The first 48 bits of a UID: short enough for an interface name. */
export const shortId = (uid: string): string => uid.replaceAll('-', '').slice(0, 12)
