import type { AgentLink } from '@spout/client/agent-link'
import type {
  Announcer,
  CarriedRequest,
  DataPlaneDriver,
  EntryFollower,
  GroupFollower,
  ProbeLimits,
  ProberOptions,
  ShareWatch,
} from '@spout/dataplane'
import type { FlowsReport, ServiceStats } from '@spout/model/node-report'
import type { Clock, Component, Logger, Timer } from '@spout/runtime'
import { type AccessLogCounts, AccessLogs, type AccessLogsOptions } from './access-logs.ts'
import { CertificateFiles } from './certificate-files.ts'
import type { Domains } from './domains.ts'
import type { AgentFigures } from './figures.ts'
import { followLink } from './follow-link.ts'
import { LoadBalancerMetrics } from './load-balancer-metrics.ts'
import { MemberHealthFeed } from './member-health-feed.ts'
import { NodeReconciler } from './reconcile-node.ts'
import { Reporter } from './reporter.ts'
import { RequestFigures } from './request-figures.ts'
import { StateFile } from './state-file.ts'

export interface NodeAgentOptions {
  /** Random, new at each start. */
  readonly session: string
  /** The file that holds the last good state. */
  readonly stateFile: string
  readonly link: () => AgentLink
  /** The memory-backed directory of the listeners' certificates. */
  readonly certificateDirectory: string
  readonly domains: Domains
  readonly drivers: readonly DataPlaneDriver[]
  /** Followers of load-balancer entries besides drivers. Default none. */
  readonly followers?: readonly EntryFollower[]
  /** All announcers of the node as one. */
  readonly announcer: Announcer
  /** The node's membership in its group. */
  readonly group: GroupFollower
  /** The state of flow replication; null if flows are not replicated. */
  readonly flows: () => Promise<FlowsReport | null>
  /** The node's address on the fabric; null if it has none. */
  readonly fabricAddress: () => Promise<string | null>
  readonly checks: ProberOptions['checks']
  /** Where access logs are written, and sent to. Default: nowhere. */
  readonly accessLogs?: AccessLogsOptions
  /** Default: the prober's own limits. */
  readonly probeLimits?: ProbeLimits
  /** Watches the use of shares. Default: nothing watches it. */
  readonly shares?: ShareWatch
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly log: Logger
  readonly observeEveryMs?: number
  readonly statsEveryMs?: number
}

const OBSERVE_EVERY_MS = 2000
const STATS_EVERY_MS = 5000
/** How often traffic counters are read, if a pool is watched. */
const TRAFFIC_EVERY_MS = 250
const STOP_GRACE_MS = 3000

/**
 * One node's side of the link: subscribes, reconciles and reports. If it is stopped or killed, forwarding continues;
 * the next process takes over what it finds.
 */
export class NodeAgent implements Component {
  readonly name = 'node-agent'
  readonly #options: NodeAgentOptions
  readonly #state: StateFile
  readonly #reconciler: NodeReconciler
  readonly #reporter: Reporter
  readonly #stopping = new AbortController()
  readonly #certificates: CertificateFiles
  readonly #metrics: LoadBalancerMetrics
  readonly #requests = new RequestFigures()
  readonly #accessLogs: AccessLogs | null
  #health: MemberHealthFeed | null = null
  #following: Promise<void> | null = null
  readonly #timers = new Map<string, Timer>()
  readonly #unsubscribe: (() => void)[] = []
  /** The statistics that the reporter got last, by driver. */
  readonly #told = new Map<DataPlaneDriver, readonly ServiceStats[]>()

  constructor(options: NodeAgentOptions) {
    this.#options = options
    const { log } = options
    this.#accessLogs = options.accessLogs === undefined ? null : new AccessLogs(options.accessLogs)
    this.#state = new StateFile(options.stateFile, (error) =>
      log.error({ event: 'state-file-failed', err: error }, 'the state file cannot be written; forwarding goes on'),
    )
    this.#reporter = new Reporter({
      session: options.session,
      features: [...new Set(options.drivers.flatMap((driver) => [...driver.features]))].sort(),
      send: (report, signal) => options.link().report(report, signal),
      clock: options.clock,
      log,
    })
    this.#certificates = new CertificateFiles({
      directory: options.certificateDirectory,
      fetch: (loadBalancerId, ids, signal) => options.link().certificates(loadBalancerId, ids, signal),
      onArrived: (key) => this.#reconciler.look([key]),
      log,
    })
    this.#metrics = new LoadBalancerMetrics({
      drivers: options.drivers,
      down: (key) => this.#health?.down(key) ?? new Set(),
      latencies: (listenerId) => this.#requests.of(listenerId),
      clock: options.clock,
    })
    const { before, after } = this.#certificates
    this.#reconciler = new NodeReconciler({
      domains: options.domains,
      drivers: options.drivers,
      preparers: [before],
      followers: [...(options.followers ?? []), after],
      announcer: options.announcer,
      group: options.group,
      state: this.#state,
      onReport: (report) => this.#reporter.entry(report),
      onRemoved: (key) => this.#reporter.removed(key),
      onApplied: (key, entry, projectId) => {
        this.#health?.applied(key, entry, projectId)
        this.#metrics.applied(key, entry)
        this.#requests.applied(key, entry)
        this.#accessLogs?.applied(key, entry)
      },
      onInSync: (inSync) => this.#reporter.inSync(inSync),
      clock: options.clock,
      random: options.random,
      log,
    })
  }

  async start(): Promise<void> {
    const { checks, probeLimits: limits, clock, random, log } = this.#options
    await this.#state.load()
    this.#health = new MemberHealthFeed({
      prober: { checks, clock, random, log, ...(limits === undefined ? {} : { limits }) },
      saved: this.#state.entries,
      onHealth: (health) => this.#reporter.member(health),
      onProbedNoMore: (member) => this.#reporter.memberGone(member),
      onDown: (key, members) => this.#reconciler.setDown(key, members),
    })
    await this.#reconciler.adopt()
    log.info(
      { event: 'adopted', entries: this.#state.entries.size, ...this.counters },
      'took over the state of the last agent',
    )
    await this.#followGroup()
    this.#reporter.start()
    this.#following = followLink(
      {
        link: this.#options.link,
        onConnect: () => this.#reconciler.begin(),
        onLines: (lines) => this.#reconciler.take(lines),
        random,
        clock,
        log,
      },
      this.#stopping.signal,
    )
    this.#every('observe', this.#options.observeEveryMs ?? OBSERVE_EVERY_MS, () => this.#reconciler.observe())
    this.#every('traffic', TRAFFIC_EVERY_MS, () => this.#pollTraffic())
    this.#every('stats', this.#options.statsEveryMs ?? STATS_EVERY_MS, () => this.#pollStats())
    this.#every('shares', this.#options.statsEveryMs ?? STATS_EVERY_MS, () => this.#lookAtShares())
  }

  /** Changes to the kernel and the proxies since the start, summed up. */
  get counters(): { readonly transactions: number; readonly reloads: number } {
    const sum = { transactions: 0, reloads: 0 }
    for (const { counters } of [...this.#options.drivers, ...(this.#options.followers ?? [])]) {
      sum.transactions += counters.transactions
      sum.reloads += counters.reloads
    }
    return sum
  }

  /** Figures for `/metrics`. */
  get figures(): AgentFigures {
    return { ...this.#reporter.figures(), ...this.counters, shares: this.#options.shares?.figures() ?? {} }
  }

  /** Called with a finished request of a listener that logs or measures. */
  carried(request: CarriedRequest): void {
    this.#requests.take(request)
    this.#accessLogs?.take(request)
  }

  /** Lines of access logs since the start. */
  get accessLogLines(): AccessLogCounts {
    return this.#accessLogs?.counts ?? { taken: 0, lost: 0 }
  }

  /** The figures that a listener of protocol `metrics` answers with; null for others. */
  metricsOf(listenerId: string): Promise<string | null> {
    return this.#metrics.of(listenerId)
  }

  /**
   * The native helper, or something else that drivers rely on, was lost and is back: all drivers compare their whole
   * state.
   */
  lookAgain(): void {
    this.#reconciler.observe()
  }

  /** Resolves when only retries are left to do. */
  idle(): Promise<void> {
    return this.#reconciler.idle()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    for (const timer of this.#timers.values()) timer.clear()
    this.#health?.close()
    await this.#following
    await this.#reporter.stop()
    await this.#reconciler.stop(STOP_GRACE_MS)
    this.#certificates.close()
    await this.#accessLogs?.close()
    await this.#state.close()
  }

  /** Reports the state of the group membership whenever it changes. */
  async #followGroup(): Promise<void> {
    const { group } = this.#options
    const end = group.onReport?.((report) => this.#reporter.tell(report))
    if (end !== undefined) this.#unsubscribe.push(end)
    this.#reporter.tell((await group.report?.()) ?? {})
    await this.#lookAtFlows()
    this.#every('flows', this.#options.statsEveryMs ?? STATS_EVERY_MS, () => this.#lookAtFlows())
    await this.#lookAtFabric()
    this.#every('fabric', this.#options.observeEveryMs ?? OBSERVE_EVERY_MS, () => this.#lookAtFabric())
  }

  async #lookAtFlows(): Promise<void> {
    try {
      this.#reporter.tell({ flows: await this.#options.flows() })
    } catch (error) {
      this.#options.log.debug({ event: 'flows-unknown', err: error }, 'the state of flow replication cannot be read')
    }
  }

  async #lookAtFabric(): Promise<void> {
    try {
      this.#reporter.tell({ fabricAddress: await this.#options.fabricAddress() })
    } catch (error) {
      this.#options.log.warn(
        { event: 'fabric-unknown', err: error },
        'the address of the fabric interface cannot be read',
      )
    }
  }

  async #lookAtShares(): Promise<void> {
    const { shares } = this.#options
    if (shares !== undefined) this.#reporter.tell({ overShares: await shares.look() })
    if (this.#accessLogs !== null) this.#reporter.tell({ logTroubles: this.#accessLogs.troubles() })
  }

  async #pollTraffic(): Promise<void> {
    if (!this.#health?.wantsTraffic) return
    for (const driver of this.#options.drivers) {
      if (driver.traffic === undefined) continue
      try {
        this.#health.traffic(await driver.traffic())
      } catch (error) {
        this.#options.log.debug({ event: 'traffic-failed', driver: driver.name, err: error }, 'no counters this time')
      }
    }
  }

  async #pollStats(): Promise<void> {
    for (const driver of this.#options.drivers) {
      try {
        const stats = await driver.stats()
        // The same object means that the driver read no new counters.
        if (this.#told.get(driver) !== stats) this.#reporter.stats(stats.map((one) => this.#requests.with(one)))
        this.#told.set(driver, stats)
      } catch (error) {
        this.#options.log.debug({ event: 'stats-failed', driver: driver.name, err: error }, 'no counters this time')
      }
    }
  }

  /** Repeats work with a pause between the end of one and the start of the next. */
  #every(name: string, pauseMs: number, work: () => Promise<void> | void): void {
    const turn = async () => {
      await work()
      if (!this.#stopping.signal.aborted) this.#every(name, pauseMs, work)
    }
    this.#timers.set(
      name,
      this.#options.clock.setTimer(() => void turn(), pauseMs),
    )
  }
}
