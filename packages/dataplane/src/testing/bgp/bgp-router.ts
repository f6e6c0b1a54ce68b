import { systemClock } from '@spout/runtime'
import { runIn } from '@spout/sys'
import { BirdDaemon } from '../../announcers/bgp/bird-daemon.ts'
import type { ControlReply } from '../../announcers/bgp/control-reply.ts'
import { parseBfd, type ShownBfd } from '../../announcers/bgp/show-bfd.ts'
import { parseProtocols, type ShownSession } from '../../announcers/bgp/show-protocols.ts'
import { silent } from '../lab-node.ts'
import { parseRoutes, type RouterRoute } from './bgp-router-routes.ts'
import { ResilientGroups } from './resilient-groups.ts'

/** A node that the router speaks BGP with. */
export interface RouterNeighbor {
  /** Lower-case letters and digits; names the session. */
  readonly name: string
  /** An address, or a link-local one with `interface`. */
  readonly address: string
  readonly as: number
  readonly interface?: string
  readonly port?: number
  readonly source?: string
  /** More than 1 is a multihop session. Default 1. */
  readonly hops?: number
  readonly ttlSecurity?: boolean
  readonly md5Secret?: string
  readonly holdTimeS?: number
  readonly bfd?: { readonly intervalMs: number; readonly multiplier: number } | null
  /** The session ends when BFD loses the neighbour. Default true. If false, `interface` is required. */
  readonly endsWithBfd?: boolean
  /** Default both. */
  readonly families?: readonly ('ipv4' | 'ipv6')[]
  /** Keeps the routes of a neighbour that restarts. Default true. */
  readonly gracefulRestart?: boolean
}

export interface BgpRouterOptions {
  /** Network namespace by name; its links and addresses are somebody else's. Forwarding is switched on in it. */
  readonly namespace: string
  /** Made, and removed by `stop`. */
  readonly directory: string
  readonly as: number
  readonly routerId: string
  readonly neighbors: readonly RouterNeighbor[]
  /**
   * How a flow finds its next hop among several: `multipath` is the kernel's plain hash, where a next hop that leaves
   * moves flows of the others too; `resilient` is a next-hop group of buckets, as good switches have it.
   */
  readonly ecmp: 'multipath' | 'resilient'
  /** Prefixes that it announces to its neighbours. Default none. */
  readonly announces?: readonly string[]
}

/** What the resilient arrangement mirrors from: no rule looks into it. */
const MIRRORED_TABLE = 7300

/**
 * A router as operators have it in front of their nodes: BIRD with BFD, ECMP in the kernel by source, destination and
 * ports. For tests and benchmarks.
 */
export class BgpRouter {
  readonly #daemon: BirdDaemon
  readonly #groups: ResilientGroups | null
  #options: BgpRouterOptions

  private constructor(options: BgpRouterOptions, daemon: BirdDaemon, groups: ResilientGroups | null) {
    this.#options = options
    this.#daemon = daemon
    this.#groups = groups
  }

  static async start(options: BgpRouterOptions): Promise<BgpRouter> {
    const { namespace, directory, ecmp } = options
    const hashing = ['ipv4', 'ipv6'].map((family) => `net.${family}.fib_multipath_hash_policy=1`)
    const forwarding = ['net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1', 'net.ipv4.conf.all.rp_filter=0']
    await runIn(namespace, ['sysctl', '-qw', ...hashing, ...forwarding])
    const daemon = new BirdDaemon({
      name: 'router',
      directory,
      owner: null,
      // A router's BFD is in hardware: the load of the machine under test is not to stop it.
      command: { executable: '/usr/sbin/bird', user: null, namespace, realTime: true },
      gracefulRestart: true,
      log: silent,
      clock: systemClock,
    })
    const groups = ecmp === 'resilient' ? await ResilientGroups.start(namespace, MIRRORED_TABLE) : null
    const router = new BgpRouter(options, daemon, groups)
    await router.configure(options.neighbors)
    return router
  }

  get pid(): number | null {
    return this.#daemon.process?.pid ?? null
  }

  /** Other neighbours, or other words for the same. */
  async configure(neighbors: readonly RouterNeighbor[], announces = this.#options.announces): Promise<void> {
    this.#options = { ...this.#options, neighbors, ...(announces === undefined ? {} : { announces }) }
    await this.#daemon.configure(renderRouter(this.#options, this.#daemon.logFile))
  }

  command(command: string): Promise<ControlReply> {
    return this.#daemon.command(command)
  }

  async sessions(): Promise<readonly ShownSession[]> {
    return parseProtocols(await this.command('show protocols all'))
  }

  async bfd(): Promise<readonly ShownBfd[]> {
    return parseBfd(await this.command('show bfd sessions'))
  }

  /** What it was told of a prefix, by each neighbour. */
  async routes(prefix: string): Promise<readonly RouterRoute[]> {
    const table = prefix.includes(':') ? 'master6' : 'master4'
    return parseRoutes(await this.command(`show route ${prefix} table ${table} all`))
  }

  /** Next hops of the prefix in the kernel, sorted; empty when it has no such route. */
  async nextHops(prefix: string): Promise<readonly string[]> {
    const table = this.#groups === null ? 'main' : String(MIRRORED_TABLE)
    const text = await runIn(this.#options.namespace, [
      'ip',
      prefix.includes(':') ? '-6' : '-4',
      '-json',
      'route',
      'show',
      prefix,
      'table',
      table,
    ])
    const rows = JSON.parse(text || '[]') as readonly KernelRoute[]
    const hops = rows.flatMap((row) => row.nexthops ?? [row])
    return hops.flatMap(({ gateway, via }) => gateway ?? via?.host ?? []).toSorted()
  }

  /** Its sessions end with a word to the neighbours. */
  async stop(): Promise<void> {
    await this.#groups?.stop()
    await this.#daemon.stop()
  }
}

interface KernelRoute {
  readonly gateway?: string
  /** A next hop of the other family. */
  readonly via?: { readonly host: string }
  readonly nexthops?: readonly KernelRoute[]
}

function renderRouter({ routerId, as, neighbors, ecmp, announces = [] }: BgpRouterOptions, logFile: string): string {
  const kernel = (version: 4 | 6) =>
    [
      `protocol kernel kernel${version} {`,
      '  merge paths limit 64;',
      ...(ecmp === 'resilient' ? [`  kernel table ${MIRRORED_TABLE};`] : []),
      `  ipv${version} { import none; export where source = RTS_BGP; };`,
      '}',
    ].join('\n')
  const own = (version: 4 | 6) => {
    const prefixes = announces.filter((prefix) => prefix.includes(':') === (version === 6))
    return `protocol static own${version} { ipv${version}; ${prefixes.map((prefix) => `route ${prefix} unreachable; `).join('')}}`
  }
  return [
    `log "${logFile}" { remote, warning, error, auth, fatal, bug };`,
    'timeformat protocol iso long ms;',
    `router id ${routerId};`,
    'protocol device { scan time 10; }',
    `protocol bfd bfd1 { ${neighbors.filter(watchedAlone).map(renderWatched).join(' ')} }`,
    // The next hop of a multihop session is found by these.
    'protocol direct direct1 { ipv4; ipv6; }',
    kernel(4),
    kernel(6),
    own(4),
    own(6),
    ...neighbors.map((neighbor) => renderNeighbor(neighbor, as)),
    '',
  ].join('\n')
}

const watchedAlone = ({ bfd = null, endsWithBfd = true }: RouterNeighbor): boolean => bfd !== null && !endsWithBfd

const renderWatched = ({ address, interface: device }: RouterNeighbor): string => `neighbor ${address} dev "${device}";`

function renderNeighbor(it: RouterNeighbor, as: number): string {
  const { bfd = null, hops = 1, families = ['ipv4', 'ipv6'], gracefulRestart = true } = it
  const version = it.address.includes(':') ? 6 : 4
  return [
    `protocol bgp ${it.name} {`,
    `  local ${it.source ?? ''} as ${as};`,
    `  neighbor ${it.address} port ${it.port ?? 179} as ${it.as};`,
    hops > 1 ? `  multihop ${hops};` : '  direct;',
    ...(it.interface === undefined ? [] : [`  interface "${it.interface}";`]),
    ...(it.ttlSecurity === true ? ['  ttl security on;'] : []),
    ...(it.md5Secret === undefined ? [] : [`  password "${it.md5Secret}";`]),
    `  hold time ${it.holdTimeS ?? 9};`,
    '  connect delay time 1; connect retry time 2; error wait time 1,2;',
    `  graceful restart ${gracefulRestart ? 'aware' : 'off'};`,
    '  long lived graceful restart off;',
    ...(bfd === null || watchedAlone(it)
      ? []
      : [`  bfd { interval ${bfd.intervalMs} ms; multiplier ${bfd.multiplier}; };`]),
    ...families.map(
      (family) =>
        `  ${family} { import all; export where source = RTS_STATIC; ${version === 6 && family === 'ipv4' ? 'extended next hop on; ' : ''}};`,
    ),
    '}',
  ].join('\n')
}
