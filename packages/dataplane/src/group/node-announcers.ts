import type {
  AddressConflictReport,
  BgpSessionReport,
  FlowsReport,
  ProxyDrainReport,
  ShardReport,
  Sight,
} from '@spout/model/node-report'
import type { BgpSettings, GroupEntry } from '@spout/model/node-state'
import { AnnouncerRegistry } from '../announcers/announcer-registry.ts'
import type { BgpAnnouncer } from '../announcers/bgp/bgp-announcer.ts'
import type { L2Announcer } from '../announcers/l2/l2-announcer.ts'
import type { NeighbourWatch } from '../announcers/l2/neighbour-watch.ts'
import type { VrrpAnnouncer } from '../announcers/vrrp/vrrp-announcer.ts'
import type { Announcement, AnnouncementDifference, Announcer } from '../contracts/announcer.ts'
import type { FlowReplication } from '../flows/flow-replication.ts'
import type { ProxyDrain } from '../second-chance/proxy-drain.ts'
import type { SecondChance } from '../second-chance/second-chance.ts'
import type { ShardProxyDrains } from '../second-chance/shard-proxy-drains.ts'
import { sessionReport, shardReport } from './announcer-reports.ts'

type Outcomes = Awaited<ReturnType<Announcer['apply']>>

export interface NodeAnnouncersOptions {
  readonly l2: L2Announcer
  readonly vrrp: VrrpAnnouncer
  readonly bgp: BgpAnnouncer
  readonly flows: Pick<FlowReplication, 'configure' | 'report' | 'close'>
  /** What becomes of the proxy's connections in a planned move: here, and when this node is the one that is left. */
  readonly secondChance: Pick<SecondChance, 'configure'>
  readonly proxyDrain: Pick<ProxyDrain, 'configure' | 'report' | 'onChange' | 'close'>
  /** The same for single shards that this node hands over while it stays. */
  readonly shardProxyDrains: Pick<ShardProxyDrains, 'configure' | 'close'>
  /** Looks after nodes of the group that do not report. */
  readonly neighbours: Pick<NeighbourWatch, 'configure' | 'onChange' | 'close'>
  /** The node's address on the fabric, as its neighbours know it; null when it has none. */
  readonly fabricAddress: () => Promise<string | null>
}

/**
 * A node's part in its group: how its announcers, the replication of flows and the drain of its proxies are set, and what they have
 * to tell of themselves.
 */
export class NodeAnnouncers implements Announcer {
  readonly name = 'node'
  readonly #options: NodeAnnouncersOptions
  readonly #announcers: AnnouncerRegistry
  /** What routers are told with the addresses; null without BGP. */
  #bgpDrain: BgpSettings['drain'] | null = null

  constructor(options: NodeAnnouncersOptions) {
    this.#options = options
    const { l2, vrrp, bgp } = options
    this.#announcers = new AnnouncerRegistry([l2, vrrp, bgp], {
      mastered: () => new Set(vrrp.shards().flatMap(({ shard, state }) => (state === 'master' ? [shard] : []))),
      onChange: (listener) => vrrp.onShardChange(listener),
    })
  }

  /**
   * How this node takes part; null ends its part and withdraws what VRRP and BGP announce. Nothing is touched when
   * nothing differs. One announcer that refuses its settings keeps the old ones and stops no other.
   * @throws AggregateError of what was refused
   */
  async configure(
    entry: Pick<GroupEntry, 'vrrp' | 'bgp' | 'flows' | 'secondChance' | 'watch'> | null,
    signal: AbortSignal,
  ): Promise<void> {
    const { vrrp, bgp, flows, secondChance, proxyDrain, shardProxyDrains } = this.#options
    this.#bgpDrain = entry?.bgp?.drain ?? null
    this.#options.neighbours.configure(entry?.watch ?? [])
    proxyDrain.configure(entry?.secondChance ?? null, {
      hasReleased: async () => (this.#bgpDrain === null ? this.#ownsNothing() : this.#bgpDrain !== 'prefer-others'),
      ownsNothing: () => this.#ownsNothing(),
    })
    shardProxyDrains.configure(entry?.secondChance ?? null, {
      hasReleased: (shard) => this.#hasReleased(shard),
      domainsOf: (shard) => this.#announcers.domainsOf(shard),
    })
    // First: what it is for may come as soon as an address is announced.
    const chance = await Promise.allSettled([secondChance.configure(entry?.secondChance ?? null)])
    const outcomes = await Promise.allSettled([
      vrrp.configure(entry?.vrrp ?? null, signal),
      bgp.configure(entry?.bgp ?? null, signal),
      flows.configure(entry?.flows ?? null),
    ])
    const refused = [...chance, ...outcomes].flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as Error] : [],
    )
    if (refused.length > 0) throw new AggregateError(refused, refused.map(({ message }) => message).join('; '))
  }

  /** Whether no client's new connection comes here. */
  async #ownsNothing(): Promise<boolean> {
    const { vrrp, l2 } = this.#options
    const routes = this.#bgpDrain !== null && this.#bgpDrain !== 'withdrawn'
    // While nobody says what became of a shard its addresses may be here.
    if (routes || vrrp.shards().some(({ state }) => state === 'master' || state === 'stopped')) return false
    return (await l2.observe()).length === 0
  }

  /** Whether a shard is another node's: while nobody says what became of it, its addresses may be here. */
  #hasReleased(number: number): boolean {
    const state = this.#options.vrrp.shards().find(({ shard }) => shard === number)?.state
    return state === 'backup' || state === 'fault'
  }

  adopt(previous: readonly Announcement[]): Promise<void> {
    return this.#announcers.adopt(previous)
  }

  apply(wanted: readonly Announcement[], signal: AbortSignal): Promise<Outcomes> {
    return this.#announcers.apply(wanted, signal)
  }

  change(difference: AnnouncementDifference, signal: AbortSignal): Promise<Outcomes> {
    return this.#announcers.change(difference, signal)
  }

  observe(): Promise<readonly Announcement[]> {
    return this.#announcers.observe()
  }

  /** Whether this node can carry traffic at all: while it cannot, it owns no shard. */
  setHealthy(healthy: boolean, reason: string): void {
    this.#options.vrrp.setHealthy(healthy, reason)
  }

  fabricAddress(): Promise<string | null> {
    return this.#options.fabricAddress()
  }

  shards(): readonly ShardReport[] {
    return this.#options.vrrp.shards().map(shardReport)
  }

  /** @returns a function that ends it */
  onShards(listener: (shards: readonly ShardReport[]) => void): () => void {
    return this.#options.vrrp.onShardChange((shards) => listener(shards.map(shardReport)))
  }

  flows(): Promise<FlowsReport | null> {
    return this.#options.flows.report()
  }

  proxyDrain(): ProxyDrainReport | null {
    return this.#options.proxyDrain.report
  }

  /** @returns a function that ends it */
  onProxyDrain(listener: (report: ProxyDrainReport | null) => void): () => void {
    return this.#options.proxyDrain.onChange(listener)
  }

  addressConflicts(): readonly AddressConflictReport[] {
    return this.#options.l2.conflicts()
  }

  /** @returns a function that ends it */
  onAddressConflicts(listener: (conflicts: readonly AddressConflictReport[]) => void): () => void {
    return this.#options.l2.onConflicts(listener)
  }

  /** @returns a function that ends it */
  onSights(listener: (sights: readonly Sight[]) => void): () => void {
    return this.#options.neighbours.onChange(listener)
  }

  async bgpSessions(): Promise<readonly BgpSessionReport[]> {
    return (await this.#options.bgp.sessions()).map(sessionReport)
  }

  /** @returns a function that ends it */
  onBgpSessions(listener: (sessions: readonly BgpSessionReport[]) => void): () => void {
    return this.#options.bgp.onSessionChange((sessions) => listener(sessions.map(sessionReport)))
  }

  async close(): Promise<void> {
    this.#options.neighbours.close()
    await this.#options.proxyDrain.close()
    await this.#options.shardProxyDrains.close()
    await this.#announcers.close()
    await this.#options.flows.close()
  }
}
