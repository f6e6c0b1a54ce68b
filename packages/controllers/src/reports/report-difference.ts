import type { ServiceStats, ShardReport } from '@spout/model'

/** The changes by one report. */
export interface ReportDifference {
  /** The session was unknown: the agent must report everything again. */
  readonly resend: boolean
  /** Keys of entries whose report changed or was removed. */
  readonly keys: ReadonlySet<string>
  /** Keys that the node reported as removed, whether or not it ever reported having them. */
  readonly removed: readonly string[]
  /** It has reported everything that it has. */
  readonly whole: boolean
  /** Load balancers with a member whose health or reason changed. */
  readonly loadBalancers: ReadonlySet<string>
  /** The report on the node itself changed. */
  readonly node: boolean
  readonly stats: readonly ServiceStats[]
  /** Entries whose announced addresses changed. */
  readonly announced: readonly AnnouncedDifference[]
  /** All shards of the node if it reported them; null if nothing is new. */
  readonly shards: readonly ShardReport[] | null
  /** Domains that have gone over or back under their share with this report. */
  readonly overShares: ReadonlySet<number>
  /** The known state of its shards is from an earlier session of the agent, and this report does not confirm it. */
  readonly shardsAreOld: boolean
  /** Load balancers with an access log that reaches no receiver, or does again, with this report. */
  readonly logTroubles: ReadonlySet<string>
}

export interface AnnouncedDifference {
  readonly key: string
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** Of a report that came twice, or late. */
export const IGNORED: ReportDifference = {
  resend: false,
  keys: new Set(),
  removed: [],
  whole: false,
  loadBalancers: new Set(),
  node: false,
  stats: [],
  announced: [],
  shards: null,
  overShares: new Set(),
  shardsAreOld: true,
  logTroubles: new Set(),
}
