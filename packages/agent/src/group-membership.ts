import type { Announcer } from '@spout/dataplane'
import type {
  AddressConflictReport,
  BgpSessionReport,
  FlowsReport,
  ProxyDrainReport,
  ShardReport,
  Sight,
} from '@spout/model/node-report'
import type { GroupEntry } from '@spout/model/node-state'

/** The node's membership in its group: all its announcers as one, elections, flow replication and proxy drains. */
export interface GroupMembership extends Announcer {
  /**
   * Applies the group's settings; null ends the membership. Changes nothing when nothing differs. @throws Error if
   * settings are refused; the old ones stay in force
   */
  configure(entry: Pick<GroupEntry, 'vrrp' | 'bgp'> | null, signal: AbortSignal): Promise<void>
  /** Sets whether the node can carry traffic. While it cannot, it releases addresses that other nodes can take. */
  setHealthy(healthy: boolean, reason: string): void
  /** The node's address on the fabric; null if it has none. */
  fabricAddress(): Promise<string | null>
  shards(): readonly ShardReport[]
  /** @returns a function that unsubscribes, as all listeners below */
  onShards(listener: (shards: readonly ShardReport[]) => void): () => void
  bgpSessions(): Promise<readonly BgpSessionReport[]>
  /** The state of flow replication; null if flows are not replicated. */
  flows(): Promise<FlowsReport | null>
  /** Progress of the proxy drain; null while there is none. */
  proxyDrain(): ProxyDrainReport | null
  onProxyDrain(listener: (report: ProxyDrainReport | null) => void): () => void
  /** Addresses that another host on the segment claims. */
  addressConflicts(): readonly AddressConflictReport[]
  onAddressConflicts(listener: (conflicts: readonly AddressConflictReport[]) => void): () => void
  /** Whether the nodes in `GroupEntry.watch` answer on the fabric. */
  onSights(listener: (sights: readonly Sight[]) => void): () => void
  onBgpSessions(listener: (sessions: readonly BgpSessionReport[]) => void): () => void
}
