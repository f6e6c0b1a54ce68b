import type { ShareFigures } from '@spout/dataplane'
import type { BgpSessionReport, EntryReport, MemberHealth, ShardReport, ShareName } from '@spout/model/node-report'

/** Figures of one agent for `/metrics` on its machine. */
export interface AgentFigures {
  /** Whether the agent has tried to apply every entry of the last full set. */
  readonly inSync: boolean
  readonly entries: Readonly<Record<EntryReport['state'], number>>
  readonly members: Readonly<Record<MemberHealth['health'], number>>
  readonly shards: Readonly<Record<ShardReport['state'], number>>
  readonly bgpSessions: Readonly<Record<'established' | 'down', number>>
  /** Reports to the control plane since the start. */
  readonly reports: Readonly<Record<'arrived' | 'failed', number>>
  /** Milliseconds since 1970; null before the first. */
  readonly lastReportAtMs: number | null
  /** Changes to the kernel and the proxies since the start. */
  readonly transactions: number
  readonly reloads: number
  /** How tenant networks use their shares, summed over networks: the number of figures does not depend on tenants. */
  readonly shares: Readonly<Partial<Record<ShareName, ShareFigures>>>
}

/** Counts reports by state. */
export function countedOf(told: {
  readonly entries: Iterable<EntryReport>
  readonly members: Iterable<MemberHealth>
  readonly shards: readonly ShardReport[]
  readonly bgpSessions: readonly BgpSessionReport[]
}): Pick<AgentFigures, 'entries' | 'members' | 'shards' | 'bgpSessions'> {
  const entries = { programmed: 0, failed: 0 }
  for (const { state } of told.entries) entries[state]++
  const members = { up: 0, down: 0, unknown: 0 }
  for (const { health } of told.members) members[health]++
  const shards = { master: 0, backup: 0, fault: 0, stopped: 0 }
  for (const { state } of told.shards) shards[state]++
  const bgpSessions = { established: 0, down: 0 }
  for (const { state } of told.bgpSessions) bgpSessions[state === 'established' ? 'established' : 'down']++
  return { entries, members, shards, bgpSessions }
}
