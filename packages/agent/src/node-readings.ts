import type { DataPlaneDriver, GroupFollower, ShareWatch } from '@spout/dataplane'
import type { FlowsReport, ServiceStats } from '@spout/model/node-report'
import type { Logger } from '@spout/runtime'
import type { AccessLogs } from './access-logs.ts'
import type { MemberHealthFeed } from './member-health-feed.ts'
import type { Repeats } from './repeats.ts'
import type { Reporter } from './reporter.ts'
import type { RequestFigures } from './request-figures.ts'

/** The sources that are polled for reports. */
export interface NodeSources {
  readonly drivers: readonly DataPlaneDriver[]
  /** The node's membership in its group. */
  readonly group: GroupFollower
  /** The state of flow replication; null if flows are not replicated. */
  readonly flows: () => Promise<FlowsReport | null>
  /** The node's address on the fabric; null if it has none. */
  readonly fabricAddress: () => Promise<string | null>
  /** Watches the use of shares. Default: nothing watches it. */
  readonly shares?: ShareWatch
  readonly log: Logger
  readonly observeEveryMs?: number
  readonly statsEveryMs?: number
}

/** The consumers of the readings. */
interface Parts {
  readonly reporter: Reporter
  readonly requests: RequestFigures
  readonly accessLogs: AccessLogs | null
  /** Null before the agent has loaded its state. */
  readonly health: () => Pick<MemberHealthFeed, 'wantsTraffic' | 'traffic'> | null
  readonly repeats: Repeats
}

export const OBSERVE_EVERY_MS = 2000
const STATS_EVERY_MS = 5000
/** How often traffic counters are read, if a pool is watched. */
const TRAFFIC_EVERY_MS = 250
/** How soon traffic counters are read after a pool is watched. A node without such pools sleeps meanwhile. */
const WATCHED_WITHIN_MS = 1000

/** Polls the state of a node and passes it to the reporter. A reading that fails is left out until the next one. */
export class NodeReadings {
  readonly #sources: NodeSources
  readonly #parts: Parts
  readonly #statsEveryMs: number
  #hasLookedAtShares = false
  #unsubscribe: () => void = () => {}
  /** By driver: the statistics that the reporter last got. */
  readonly #told = new Map<DataPlaneDriver, readonly ServiceStats[]>()

  constructor(sources: NodeSources, parts: Parts) {
    this.#sources = sources
    this.#parts = parts
    this.#statsEveryMs = sources.statsEveryMs ?? STATS_EVERY_MS
  }

  /** Reports the node's part in its group now and whenever it changes, flow replication, and the fabric's address. */
  async followGroup(): Promise<void> {
    const { group, observeEveryMs = OBSERVE_EVERY_MS } = this.#sources
    const { reporter, repeats } = this.#parts
    this.#unsubscribe = group.onReport?.((report) => reporter.tell(report)) ?? this.#unsubscribe
    reporter.tell((await group.report?.()) ?? {})
    await this.#lookAtFlows()
    repeats.every('flows', this.#statsEveryMs, () => this.#lookAtFlows())
    await this.#lookAtFabric()
    repeats.every('fabric', observeEveryMs, () => this.#lookAtFabric())
  }

  /** Begins to poll traffic, statistics and the use of shares. */
  start(): void {
    const { repeats } = this.#parts
    const trafficPauseMs = () => (this.#parts.health()?.wantsTraffic ? TRAFFIC_EVERY_MS : WATCHED_WITHIN_MS)
    repeats.every('traffic', trafficPauseMs, () => this.#pollTraffic())
    repeats.every('stats', this.#statsEveryMs, () => this.#pollStats())
    // The first look comes at once: what a network was refused before it is not told.
    const sharesPauseMs = () => (this.#hasLookedAtShares ? this.#statsEveryMs : 0)
    repeats.every('shares', sharesPauseMs, () => this.#lookAtShares())
  }

  /** Ends the subscription to group reports. */
  close(): void {
    this.#unsubscribe()
  }

  async #lookAtFlows(): Promise<void> {
    try {
      this.#parts.reporter.tell({ flows: await this.#sources.flows() })
    } catch (error) {
      this.#sources.log.debug({ event: 'flows-unknown', err: error }, 'the state of flow replication cannot be read')
    }
  }

  async #lookAtFabric(): Promise<void> {
    try {
      this.#parts.reporter.tell({ fabricAddress: await this.#sources.fabricAddress() })
    } catch (error) {
      this.#sources.log.warn(
        { event: 'fabric-unknown', err: error },
        'the address of the fabric interface cannot be read',
      )
    }
  }

  async #lookAtShares(): Promise<void> {
    const { shares } = this.#sources
    const { reporter, accessLogs } = this.#parts
    this.#hasLookedAtShares = true
    if (shares !== undefined) reporter.tell({ overShares: await shares.look() })
    if (accessLogs !== null) reporter.tell({ logTroubles: accessLogs.troubles() })
  }

  async #pollTraffic(): Promise<void> {
    const health = this.#parts.health()
    if (!health?.wantsTraffic) return
    for (const driver of this.#sources.drivers) {
      if (driver.traffic === undefined) continue
      try {
        health.traffic(await driver.traffic())
      } catch (error) {
        this.#sources.log.debug({ event: 'traffic-failed', driver: driver.name, err: error }, 'no counters this time')
      }
    }
  }

  async #pollStats(): Promise<void> {
    const { reporter, requests } = this.#parts
    for (const driver of this.#sources.drivers) {
      try {
        const stats = await driver.stats()
        // The same object means that the driver read no new counters.
        if (this.#told.get(driver) !== stats) reporter.stats(stats.map((one) => requests.with(one)))
        this.#told.set(driver, stats)
      } catch (error) {
        this.#sources.log.debug({ event: 'stats-failed', driver: driver.name, err: error }, 'no counters this time')
      }
    }
  }
}
