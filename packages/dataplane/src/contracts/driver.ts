import type { EntryReport, ResponseCounts, ServiceStats } from '@spout/model/node-report'
import type { DomainEntry, LoadBalancerEntry } from '@spout/model/node-state'

/** A capability of a driver. An entry that needs a feature that no driver offers is refused. */
export type Feature = string

/** The outcome of one entry in an `apply`. */
export interface Applied {
  readonly key: string
  readonly state: EntryReport['state']
  readonly reason: string | null
  readonly message: string | null
}

/** Counts traffic to one member of a watched pool (`NodePool.passive`), since its proxy process began. */
export interface MemberTraffic {
  /** The load balancer's entry. */
  readonly key: string
  readonly poolId: string
  readonly memberId: string
  readonly connected: number
  /** Connections that were refused or timed out. */
  readonly notConnected: number
  /** Responses with a status below 500. */
  readonly answered: number
  /** Responses with status 5xx, invalid responses, and time-outs. */
  readonly badAnswers: number
}

/**
 * What a proxy counted at a pool or a member on this node. Counters begin at zero again with the proxy's process.
 * Averages are over the last 1,024 requests or connections.
 */
export interface TrafficFigures {
  readonly current: number
  /** Requests or connections that wait for a free place. */
  readonly queued: number
  readonly total: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly connectionErrors: number
  readonly responseErrors: number
  readonly retries: number
  readonly redispatches: number
  readonly responses: ResponseCounts
  readonly queueMs: number
  readonly connectMs: number
  readonly responseMs: number
  readonly totalMs: number
}

export interface PoolFigures extends TrafficFigures {
  readonly poolId: string
  /** By member id. */
  readonly members: ReadonlyMap<string, TrafficFigures>
}

/**
 * A finished request, or a proxied connection that ended, as the proxy logged it. Texts of clients are bytes, and cut.
 */
export interface CarriedRequest {
  readonly listenerId: string
  /** `NodePool.number`; null if no pool got it. */
  readonly pool: number | null
  /** The route that took it. Null for none, and of listeners that do not count by route. */
  readonly routeId: string | null
  /** Microseconds since 1970. */
  readonly endedAtUs: number
  /**
   * From the end of the request's header to the end of the response, or of the connection. Null if the header was never
   * read.
   */
  readonly durationUs: number | null
  /**
   * Until the header of the member's response arrived, or the connection to the member was made. Null if neither
   * happened.
   */
  readonly waitedMs: number | null
  readonly client: Endpoint
  readonly vip: Endpoint
  readonly member: Endpoint | null
  /** Null for a connection. */
  readonly status: number | null
  /** From the client, and to it. */
  readonly bytesIn: number
  readonly bytesOut: number
  /** Two letters of HAProxy (management guide, "Session state at disconnection"): `--` is the usual end. */
  readonly ending: string
  /** `TLSv1.3`; null without TLS. */
  readonly tlsVersion: string | null
  /** The name that the client asked for (SNI); null for none. */
  readonly serverName: string | null
  /** Null for a connection, and for data that was not a request. */
  readonly http: {
    readonly method: string
    readonly uri: string
    /** `1.1`, `2.0`. */
    readonly version: string
    readonly host: string | null
    readonly userAgent: string | null
    readonly referer: string | null
  } | null
}

interface Endpoint {
  readonly address: string
  readonly port: number
}

/** By member id: the percentage of its full share that a member in slow start has now. */
export type Shares = ReadonlyMap<string, number>

/** Where the domain's proxy accepts connections for a listener: a transparent socket on a port of its loopback addresses. */
export interface ProxyPort {
  readonly port: number
}

/** A complete entry with everything that a driver needs. The driver works out the difference to what it has. */
export interface WantedEntry {
  readonly key: string
  readonly hash: string
  readonly domain: DomainEntry
  readonly entry: LoadBalancerEntry
  /** Ids of members that are down now (see `effectiveMembers`) and get no new connections. */
  readonly down: ReadonlySet<string>
  /**
   * By member id: the percentage of its full share that a member in slow start has (see `SlowStarts`). Other members have
   * their full share. Only for pools of the packet path.
   */
  readonly shares?: Shares
  /** By listener id: where a proxy accepts the listener's connections. Other listeners have no proxy. */
  readonly proxyPorts?: ReadonlyMap<string, ProxyPort>
}

/**
 * Follows the load-balancer entries of one node and programs some part of the system accordingly.
 *
 * - `apply` takes complete entries and applies the difference to what is programmed. Applying the same entry again changes
 *   nothing. Removing an absent entry is not an error. An entry without an outcome in the result succeeded.
 * - A bad entry never stops others. Its outcome is `failed` with the system's error text, and its previous state stays in
 *   force.
 * - `adopt` takes over what an earlier process of the agent programmed, given the entries that it had applied. It changes
 *   nothing when nothing differs. A later `apply` removes what belongs to no entry, when the agent knows all wanted entries.
 */
export interface EntryFollower {
  readonly name: string
  /** @param previous the entries that the last process had confirmed */
  adopt(previous: readonly WantedEntry[]): Promise<void>
  apply(
    changes: { readonly put: readonly WantedEntry[]; readonly remove: readonly string[] },
    signal: AbortSignal,
  ): Promise<readonly Applied[]>
  /**
   * Resolves with keys whose state was lost or changed by somebody else (a killed proxy, a flushed table).
   * @param pressing aborts when changes wait. A follower that reads much then resolves early, with what it has found
   */
  observe(pressing?: AbortSignal): Promise<readonly string[]>
  /** Whether the last `observe` resolved early. The next one goes on where it ended. Absent: it never does. */
  readonly observing?: boolean
  /** How often the kernel or the proxy was changed since start. Benchmark `restart-adopt` reads it. */
  readonly counters: { readonly transactions: number; readonly reloads: number }
  close(): Promise<void>
}

/**
 * Programs load balancers into the packet path or the proxy of one node. It gets the entries for whose packet path, or for
 * whose proxied listeners, it is the first driver of the node that offers everything.
 *
 * One test suite checks the contract for every driver: the contract of `EntryFollower`, and `render` is pure (the same entry
 * gives the same rendering, which goldens hold).
 */
export interface DataPlaneDriver<Rendered = unknown> extends EntryFollower {
  readonly features: ReadonlySet<Feature>
  render(wanted: WantedEntry): Rendered
  /**
   * Announces entries that will be applied soon, as these same objects unless they change. The driver may do part of the
   * work now, while it waits for the kernel. It must not change the system or throw.
   */
  prepare?(soon: readonly WantedEntry[]): void
  /** By listener id: where this driver's proxy accepts connections after `apply`. Drivers later in the list use it. */
  proxyPorts?(entry: LoadBalancerEntry): ReadonlyMap<string, ProxyPort>
  stats(): Promise<readonly ServiceStats[]>
  /** The counters of the pools of one entry, if the driver has them. Costs work for each pool. */
  poolFigures?(entry: LoadBalancerEntry): Promise<readonly PoolFigures[]>
  /** Counts traffic to the members of watched pools, if the driver sees it. */
  traffic?(): Promise<readonly MemberTraffic[]>
}
