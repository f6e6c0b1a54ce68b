/** Options of the driver's proxies. All have defaults. */
export interface HaproxyOptions {
  /** The HAProxy executable. */
  readonly executable: string
  /** Whether the executable was built with Lua, which tests requests for what is no key of a map. */
  readonly lua: boolean
  /** The program that compares passwords of basic authentication. Without it there is none. */
  readonly passwords: string
  /** Memory-backed directory for configurations, sockets and state. Short: a socket's path has 107 bytes. */
  readonly runDirectory: string
  /** Memory-backed directory of the node's certificates, `<content id>.pem` each. The agent fills it. */
  readonly certificateDirectory: string
  /** A domain's proxy runs as user and group `firstUid + number`. */
  readonly firstUid: number
  /** Local port of a process's first frontend slot. */
  readonly firstPort: number
  /** Maximum of frontend slots of a process, and of ports from `firstPort` on. */
  readonly mostFrontends: number
  /** Maximum of backend slots of a process. */
  readonly mostBackends: number
  /** Maximum of concurrent connections of a process. More wait in the kernel's queue. */
  readonly maxConnections: number
  /** A request's or a response's headers, and what is added to them, must fit into so much. */
  readonly bufferBytes: number
  /** Maximum part of them for one source; 1 is no limit. The part shrinks as the process fills (see `sourceRules`). */
  readonly sourceShare: number
  /** Time limit for the header of a request. */
  readonly requestWithinMs: number
  /** How long a replaced process may keep its connections. */
  readonly leaveAfterMs: number
  /** How long connections to a removed member may last. */
  readonly drainMs: number
  /** How long lists of users are known that no route names: questions under way and replaced processes may. */
  readonly usersStayMs: number
  /** How often drained members and released slots are checked. */
  readonly sweepEveryMs: number
  /** Lines of requests and connections that are read in a second of each process. */
  readonly linesPerSecond: number
  /** How long the process of a domain without proxied services stays. */
  readonly graceMs: number
}

export const DEFAULT_OPTIONS: HaproxyOptions = {
  executable: '/usr/sbin/haproxy',
  lua: true,
  passwords: '/usr/lib/spout/spout-passwords',
  runDirectory: '/run/spout/haproxy',
  certificateDirectory: '/run/spout/haproxy-certificates',
  firstUid: 0x2000_0000,
  firstPort: 20_000,
  mostFrontends: 12_000,
  mostBackends: 12_000,
  maxConnections: 4_000,
  bufferBytes: 16_384,
  sourceShare: 0.5,
  requestWithinMs: 10_000,
  leaveAfterMs: 3_600_000,
  drainMs: 300_000,
  usersStayMs: 15_000,
  sweepEveryMs: 1_000,
  linesPerSecond: 2_000,
  graceMs: 60_000,
}

/** Incremented when the text of the configuration changes, so that an agent replaces the process of an earlier one. */
const CONFIGURATION = 19

/** Equal for processes with the same configuration apart from their slots. */
export const boundsOf = ({ maxConnections, sourceShare, requestWithinMs, lua, bufferBytes }: HaproxyOptions): string =>
  [
    ...[CONFIGURATION, maxConnections, sourceShare, requestWithinMs],
    ...(lua ? [] : ['no-lua']),
    ...(bufferBytes === DEFAULT_OPTIONS.bufferBytes ? [] : [`buffer-${bufferBytes}`]),
  ].join('/')
