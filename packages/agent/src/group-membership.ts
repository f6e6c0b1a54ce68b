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

/** All announcers of the node as one, and the node's part in its group. */
export interface GroupMembership extends Announcer {
  /** Null ends the node's part. Changes nothing when nothing differs. @throws Error: what was refused stays as it was */
  configure(entry: Pick<GroupEntry, 'vrrp' | 'bgp'> | null, signal: AbortSignal): Promise<void>
  /** Whether the node can carry traffic at all; while it cannot, it gives up what others can take. */
  setHealthy(healthy: boolean, reason: string): void
  /** The node's address on the fabric; null when it has none. */
  fabricAddress(): Promise<string | null>
  shards(): readonly ShardReport[]
  /** @returns a function that ends it, as the next one */
  onShards(listener: (shards: readonly ShardReport[]) => void): () => void
  bgpSessions(): Promise<readonly BgpSessionReport[]>
  /** How flows are replicated now; null where they are not. */
  flows(): Promise<FlowsReport | null>
  /** Progress of the proxy drain; null while there is none. */
  proxyDrain(): ProxyDrainReport | null
  onProxyDrain(listener: (report: ProxyDrainReport | null) => void): () => void
  /** Addresses that somebody else on the wire claims. */
  addressConflicts(): readonly AddressConflictReport[]
  onAddressConflicts(listener: (conflicts: readonly AddressConflictReport[]) => void): () => void
  /** Whether nodes that `GroupEntry.watch` names answer on the fabric. */
  onSights(listener: (sights: readonly Sight[]) => void): () => void
  onBgpSessions(listener: (sessions: readonly BgpSessionReport[]) => void): () => void
}
