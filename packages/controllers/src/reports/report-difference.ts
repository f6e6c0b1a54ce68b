import type { MemberHealth, ServiceStats, ShardReport } from '@spout/model'

/** What one report changed. */
export interface ReportDifference {
  /** Whether the agent must report everything again, because its session was unknown. */
  readonly resend: boolean
  /** Keys of entries whose report changed or was removed. */
  readonly keys: ReadonlySet<string>
  /** Keys that the node reported as removed, even if it never reported having them. */
  readonly removed: readonly string[]
  /** Whether the node has reported everything that it has. */
  readonly whole: boolean
  /** Load balancers with a member whose health or reason changed. */
  readonly loadBalancers: ReadonlySet<string>
  /** Members whose check began to fail or to succeed. The first report of a member counts only if it is down. */
  readonly health: readonly MemberHealth[]
  /** Whether the report on the node itself changed. */
  readonly node: boolean
  readonly stats: readonly ServiceStats[]
  /** Entries whose announced addresses changed. */
  readonly announced: readonly AnnouncedDifference[]
  /** All shards of the node. Null: they did not change. */
  readonly shards: readonly ShardReport[] | null
  /** Numbers of domains whose reports of exceeded shares changed (`changedShares`). */
  readonly overShares: ReadonlySet<number>
  /**
   * Whether the known state of its shards is from an earlier session of the agent, and this report does not confirm it.
   */
  readonly shardsAreOld: boolean
  /** Ids of load balancers whose reports of failing access logs changed (`changedTroubles`). */
  readonly logTroubles: ReadonlySet<string>
  /** Names in the node's own settings, if the report on one of them changed. */
  readonly local: ReadonlySet<string>
}

export interface AnnouncedDifference {
  readonly key: string
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** The difference for a report that came twice, or late. */
export const IGNORED: ReportDifference = {
  resend: false,
  keys: new Set(),
  removed: [],
  whole: false,
  loadBalancers: new Set(),
  health: [],
  node: false,
  stats: [],
  announced: [],
  shards: null,
  overShares: new Set(),
  shardsAreOld: true,
  logTroubles: new Set(),
  local: new Set(),
}
