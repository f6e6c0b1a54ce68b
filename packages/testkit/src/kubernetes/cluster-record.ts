import path from 'node:path'
import type { Lab } from '../lab/lab.ts'
import type { KubernetesPrograms } from './build.ts'
import type { ControlPlaneSpec } from './control-plane.ts'
import type { Credentials } from './credentials.ts'
import type { Images } from './kubelet/images.ts'
import type { NodeSegment } from './network.ts'
import type { NodeSpec } from './node.ts'

export interface KubernetesOptions {
  /** Name of the control plane's place. Default `kube`. */
  readonly name?: string
  /** Number of the cluster in its lab, 0 to 3. Two clusters of a lab need numbers, names and segments of their own. */
  readonly number?: number
  /** The segment of the nodes. Default `fabric`; on a tenant's segment they have addresses of its subnet. */
  readonly segment?: NodeSegment
  /** Real programs by image name, with or without its tag; a pod of any other image runs the test bed's own program (testbed/kubernetes/pod). */
  readonly images?: Images
  /** Flags in addition to the test bed's own; the last of a name wins. */
  readonly apiServerFlags?: readonly string[]
  readonly controllerManagerFlags?: readonly string[]
  readonly proxyFlags?: readonly string[]
  /** Default `rare`: the control plane collects its garbage half as often as usual, which saves time and costs memory. */
  readonly garbage?: 'rare' | 'usual'
}

/** What a later process must know of a cluster. */
export interface ClusterRecord {
  readonly options: Required<KubernetesOptions>
  readonly programs: KubernetesPrograms
  readonly credentials: Credentials
  readonly nodes: readonly NodeSpec[]
}

export const DEFAULTS: Required<KubernetesOptions> = {
  name: 'kube',
  number: 0,
  segment: 'fabric',
  images: {},
  apiServerFlags: [],
  controllerManagerFlags: [],
  proxyFlags: [],
  garbage: 'rare',
}

const directoryOf = (lab: Lab, name: string): string => path.join(lab.directory, name)

export const recordFile = (lab: Lab, name: string): string => path.join(directoryOf(lab, name), 'cluster.json')

export function specOf(lab: Lab, options: Required<KubernetesOptions>, programs: KubernetesPrograms): ControlPlaneSpec {
  const { name, number, apiServerFlags, controllerManagerFlags, garbage } = options
  const directory = directoryOf(lab, name)
  return {
    lab,
    name,
    number,
    program: programs.controlPlane,
    directory,
    apiServerFlags,
    controllerManagerFlags,
    garbage,
  }
}
