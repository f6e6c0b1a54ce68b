import type { EntryReport, ServiceStats } from '@spout/model/node-report'
import type { DomainEntry, LoadBalancerEntry } from '@spout/model/node-state'

/** What the planner may ask of a node; what no driver offers is refused with that reason. */
export type Feature = string

/** What became of one entry in an `apply`. Entries not named were not touched. */
export interface Applied {
  readonly key: string
  readonly state: EntryReport['state']
  readonly reason: string | null
  readonly message: string | null
}

/** What became of the traffic to one member of a watched pool (`NodePool.passive`), counted since its proxy began. */
export interface MemberTraffic {
  /** The load balancer's entry. */
  readonly key: string
  readonly poolId: string
  readonly memberId: string
  readonly connected: number
  /** Connections refused, or not open in time. */
  readonly notConnected: number
  /** Answers of a status below 500. */
  readonly answered: number
  /** Status 5xx, broken answers, and none in time. */
  readonly badAnswers: number
}

/** Percent of its whole share that each member on its way up has now, by member id. */
export type Shares = ReadonlyMap<string, number>

/** An entry together with what a driver needs beside it. Whole: the driver works out the difference to what it has. */
export interface WantedEntry {
  readonly key: string
  readonly hash: string
  readonly domain: DomainEntry
  readonly entry: LoadBalancerEntry
  /** Ids of members that are down now (see `effectiveMembers`): they get no new connections. */
  readonly down: ReadonlySet<string>
  /**
   * Percent of its whole share that a member on its way up has, by member id (see `SlowStarts`); left out, and for who is
   * not named, all of it. For pools of the packet path alone.
   */
  readonly shares?: Shares
}

/**
 * Makes services real in the packet path or the proxy of one node.
 *
 * Contract, checked by one suite over every driver:
 * - `render` is pure: the same entry gives the same rendering; it is what goldens hold.
 * - `apply` takes whole entries and does only the difference to what is there; applying again what is there does
 *   nothing to the kernel or the proxy. Removing what is absent is not an error.
 * - One bad entry never stops the others: it gets `failed` with the kernel's or proxy's words and the previous state
 *   of that entry stays in force.
 * - `adopt` takes over what an earlier process of the agent left, given the entries it had applied: no transaction when
 *   nothing differs. What it finds beyond them is removed by a later `apply`, once the agent
 *   has had time to name all it wants.
 */
export interface DataPlaneDriver<Rendered = unknown> {
  readonly name: string
  readonly features: ReadonlySet<Feature>
  render(wanted: WantedEntry): Rendered
  /**
   * These entries will be put soon, as these very objects if nothing about them changes: the driver may do some of the
   * work now, while it waits for the kernel. It must not change anything, nor throw.
   */
  prepare?(soon: readonly WantedEntry[]): void
  /** Looks at what is there. `previous` are the entries that the last process had confirmed. */
  adopt(previous: readonly WantedEntry[]): Promise<void>
  apply(
    changes: { readonly put: readonly WantedEntry[]; readonly remove: readonly string[] },
    signal: AbortSignal,
  ): Promise<readonly Applied[]>
  /** Resolves with keys whose state was lost or found changed from outside (a killed proxy, a flushed table). */
  observe(): Promise<readonly string[]>
  stats(): Promise<readonly ServiceStats[]>
  /** Traffic to the members of watched pools, where the driver sees it. */
  traffic?(): Promise<readonly MemberTraffic[]>
  /** How often the kernel or the proxy was changed since start: what `restart-adopt` counts. */
  readonly counters: { readonly transactions: number; readonly reloads: number }
  close(): Promise<void>
}
