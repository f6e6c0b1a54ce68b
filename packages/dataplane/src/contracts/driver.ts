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

/** By member id: the percentage of its full share that a member in slow start has now. */
export type Shares = ReadonlyMap<string, number>

/** Where the domain's proxy accepts connections for a listener: a transparent socket on a port of its loopback addresses. */
export interface ProxyPort {
  readonly port: number
}

/** An entry with everything that a driver needs for it. It is whole: the driver works out the difference to what it has. */
export interface WantedEntry {
  readonly key: string
  readonly hash: string
  readonly domain: DomainEntry
  readonly entry: LoadBalancerEntry
  /** Ids of members that are down now (see `effectiveMembers`): they get no new connections. */
  readonly down: ReadonlySet<string>
  /**
   * By member id: the percentage of its full share that a member in slow start has (see `SlowStarts`). A member that is
   * not named has all of it. Only for pools of the packet path.
   */
  readonly shares?: Shares
  /** By listener id: where a proxy accepts the listener's connections. A listener that is not named has no proxy. */
  readonly proxyPorts?: ReadonlyMap<string, ProxyPort>
}

/**
 * Follows the load-balancer entries of one node and keeps something of the system as they say.
 *
 * - `apply` takes whole entries and does only the difference to what is there; applying again what is there changes
 *   nothing. Removing what is absent is not an error. An entry that it does not name was done.
 * - One bad entry never stops the others: it gets `failed` with the system's words and the previous state of that entry
 *   stays in force.
 * - `adopt` takes over what an earlier process of the agent left, given the entries it had applied: no change when
 *   nothing differs. What it finds beyond them is removed by a later `apply`, once the agent has had time to name all it
 *   wants.
 */
export interface EntryFollower {
  readonly name: string
  /** Looks at what is there. `previous` are the entries that the last process had confirmed. */
  adopt(previous: readonly WantedEntry[]): Promise<void>
  apply(
    changes: { readonly put: readonly WantedEntry[]; readonly remove: readonly string[] },
    signal: AbortSignal,
  ): Promise<readonly Applied[]>
  /** Resolves with keys whose state was lost or found changed from outside (a killed proxy, a flushed table). */
  observe(): Promise<readonly string[]>
  /** How often the kernel or the proxy was changed since start: what `restart-adopt` counts. */
  readonly counters: { readonly transactions: number; readonly reloads: number }
  close(): Promise<void>
}

/**
 * Makes services real in the packet path or the proxy of one node. It is given the entries that need one of its features.
 *
 * Contract, checked by one suite over every driver: that of `EntryFollower`, and
 * - `render` is pure: the same entry gives the same rendering; it is what goldens hold.
 */
export interface DataPlaneDriver<Rendered = unknown> extends EntryFollower {
  readonly features: ReadonlySet<Feature>
  render(wanted: WantedEntry): Rendered
  /**
   * These entries will be put soon, as these very objects if nothing about them changes: the driver may do some of the
   * work now, while it waits for the kernel. It must not change anything, nor throw.
   */
  prepare?(soon: readonly WantedEntry[]): void
  /** Where this driver's proxy accepts for the entry's listeners, once it was applied: for the drivers after this one. */
  proxyPorts?(entry: LoadBalancerEntry): ReadonlyMap<string, ProxyPort>
  stats(): Promise<readonly ServiceStats[]>
  /** Traffic to the members of watched pools, where the driver sees it. */
  traffic?(): Promise<readonly MemberTraffic[]>
}
