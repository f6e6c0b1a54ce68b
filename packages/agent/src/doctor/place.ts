import type { DomainConfig } from '@spout/dataplane'
import type { GroupEntry } from '@spout/model/node-state'
import type { NativeHelper } from '@spout/sys'

/** The node that is looked at: its settings, and what it last got from the control plane. */
export interface NodePlace {
  readonly config: DomainConfig
  readonly helper: NativeHelper
  /** The node's part in its group, from its state file; null before the control plane told it. */
  readonly group: GroupEntry | null
  /** Path of the state file. */
  readonly stateFile: string
  readonly identityFile: string
  readonly enrolmentTokenFile: string
  /** `https://host:port` of each control plane's agent link. One of them leads; the others do not serve it. */
  readonly linkUrls: readonly string[]
  readonly directories: {
    readonly state: string
    readonly haproxy: string
    readonly vrrp: string
    readonly bgp: string
    readonly flows: string
  }
  readonly programs: { readonly haproxy: string; readonly keepalived: string; readonly bird: string }
  /** Port on which routers reach BIRD. */
  readonly bgpPort: number
  /** Port of the agent's metrics; null for none. */
  readonly metricsPort: number | null
  /** Path of the agent's program, by which its process is known. */
  readonly ownProgram: string
  readonly now: () => Date
}
