/** How the driver runs its proxies. Every default can stand. */
export interface HaproxyOptions {
  /** The HAProxy executable. */
  readonly executable: string
  /** Memory-backed directory for configurations, sockets and state. Short: a socket's path has 107 bytes. */
  readonly runDirectory: string
  /** A domain's proxy runs as user and group `firstUid + number`. */
  readonly firstUid: number
  /** Local port of a process's first frontend slot. */
  readonly firstPort: number
  /** Most frontend slots of a process, which is also how many ports it may take from `firstPort` on. */
  readonly mostFrontends: number
  /** Most backend slots of a process. */
  readonly mostBackends: number
  /** Most connections of a process at a time; more wait in the kernel's queue. */
  readonly maxConnections: number
  /** Most of them that one source may have, as a share; 1 is no bound. Less, the fuller the process (see `sourceRules`). */
  readonly sourceShare: number
  /** How long the header of a request may take. */
  readonly requestWithinMs: number
  /** How long a replaced process may keep its connections. */
  readonly leaveAfterMs: number
  /** How long connections to a removed member may last. */
  readonly drainMs: number
  /** How often it is looked whether drained members and freed slots are done with. */
  readonly sweepEveryMs: number
  /** How long the process of a domain without proxied services stays. */
  readonly graceMs: number
}

export const DEFAULT_OPTIONS: HaproxyOptions = {
  executable: '/usr/sbin/haproxy',
  runDirectory: '/run/spout/haproxy',
  firstUid: 0x2000_0000,
  firstPort: 20_000,
  mostFrontends: 12_000,
  mostBackends: 12_000,
  maxConnections: 4_000,
  sourceShare: 0.5,
  requestWithinMs: 10_000,
  leaveAfterMs: 3_600_000,
  drainMs: 300_000,
  sweepEveryMs: 1_000,
  graceMs: 60_000,
}

/** Equal for processes that bind their clients alike. */
export const boundsOf = ({ maxConnections, sourceShare, requestWithinMs }: HaproxyOptions): string =>
  `${maxConnections}/${sourceShare}/${requestWithinMs}`
