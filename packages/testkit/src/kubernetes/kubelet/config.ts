import type { KubernetesAccess } from '../api.ts'
import type { ObjectMeta } from '../objects.ts'

/** What the kubelet of one node is told, as a file. */
export interface KubeletConfig {
  readonly access: KubernetesAccess
  readonly node: string
  /** The node's own addresses, IPv4 first. */
  readonly addresses: readonly [string, string]
  /** Ranges its pods take their addresses from, IPv4 first. */
  readonly podCidrs: readonly [string, string]
  /** Network namespace of the node, which the kubelet is in. */
  readonly namespace: string
  /** What names of the pods' namespaces begin with. */
  readonly podNamespacePrefix: string
  /** Records, logs and switches of its pods. */
  readonly directory: string
  /** What a pod runs whose image is not in `images`. */
  readonly podProgram: string
  /** Real programs by image: the container's command and arguments are appended. */
  readonly images: Readonly<Record<string, readonly string[]>>
}

/** Port of the health server on the node's addresses, as of the real kubelet: HTTP `/healthz`. */
export const KUBELET_HEALTH_PORT = 10248

/** Where a pod's network is: the same name for whoever made it and whoever looks for it. */
export const podPlaceName = (uid: string): string => `pod-${shortId(uid)}`

/** File that makes a pod's `/ready` answer 503. */
export const notReadyFile = (directory: string, uid: string): string => `${directory}/${shortId(uid)}.not-ready`

/** Where what a container writes goes. */
export const podLogFile = (directory: string, { namespace, name }: ObjectMeta, container: string): string =>
  `${directory}/${namespace}_${name}_${container}.log`

/** The first 48 bits of a UID: short enough for an interface name. */
export const shortId = (uid: string): string => uid.replaceAll('-', '').slice(0, 12)
