import type { AgentLink } from '@spout/client/agent-link'
import type { DataPlaneDriver, EntryFollower, ProbeLimits, ProberOptions, ShareWatch } from '@spout/dataplane'
import type { ServiceStats } from '@spout/model/node-report'
import type { Clock, Component, Logger, Timer } from '@spout/runtime'
import type { Domains } from './domains.ts'
import type { AgentFigures } from './figures.ts'
import { followLink } from './follow-link.ts'
import type { GroupMembership } from './group-membership.ts'
import { MemberHealthFeed } from './member-health-feed.ts'
import { NodeReconciler } from './reconcile-node.ts'
import { Reporter } from './reporter.ts'
import { StateFile } from './state-file.ts'

export interface NodeAgentOptions {
  /** Drawn anew at each start. */
  readonly session: string
  /** Where the last good state is kept. */
  readonly stateFile: string
  readonly link: () => AgentLink
  readonly domains: Domains
  readonly drivers: readonly DataPlaneDriver[]
  /** What of the node follows load balancers besides drivers. Left out: nothing. */
  readonly followers?: readonly EntryFollower[]
  readonly announcer: GroupMembership
  readonly checks: ProberOptions['checks']
  /** Left out: those that the prober has by itself. */
  readonly probeLimits?: ProbeLimits
  /** Left out: nobody looks at what tenant networks use. */
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
/** Of addresses that somebody else claims: more say no more. */
const MOST_CONFLICTS = 100
/** How soon traffic tells of a member that fails. Asked only while some pool is watched. */
const TRAFFIC_EVERY_MS = 250
const STOP_GRACE_MS = 3000

/**
 * One node's side of the link: subscribe, reconcile, report. Stopping it, or killing it, leaves everything forwarding;
 * started again it takes over what it finds.
 */
export class NodeAgent implements Component {
  readonly name = 'node-agent'
  readonly #options: NodeAgentOptions
  readonly #state: StateFile
  readonly #reconciler: NodeReconciler
  readonly #reporter: Reporter
  readonly #stopping = new AbortController()
  #health: MemberHealthFeed | null = null
  #following: Promise<void> | null = null
  readonly #timers = new Map<string, Timer>()
  readonly #unsubscribe: (() => void)[] = []
  /** Statistics that the reporter has. */
  readonly #told = new Map<DataPlaneDriver, readonly ServiceStats[]>()

  constructor(options: NodeAgentOptions) {
    this.#options = options
    const { log } = options
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
    this.#reconciler = new NodeReconciler({
      domains: options.domains,
      drivers: options.drivers,
      followers: options.followers ?? [],
      announcer: options.announcer,
      state: this.#state,
      onReport: (report) => this.#reporter.entry(report),
      onRemoved: (key) => this.#reporter.removed(key),
      onApplied: (key, entry, projectId) => this.#health?.applied(key, entry, projectId),
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
    log.info({ event: 'adopted', entries: this.#state.entries.size, ...this.counters }, 'took over what was there')
    await this.#followAnnouncer()
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

  /** What the kernel and the proxies were changed since the start, all together. */
  get counters(): { readonly transactions: number; readonly reloads: number } {
    const sum = { transactions: 0, reloads: 0 }
    for (const { counters } of [...this.#options.drivers, ...(this.#options.followers ?? [])]) {
      sum.transactions += counters.transactions
      sum.reloads += counters.reloads
    }
    return sum
  }

  /** For who watches this machine by itself. */
  get figures(): AgentFigures {
    return { ...this.#reporter.figures(), ...this.counters, shares: this.#options.shares?.figures() ?? {} }
  }

  /** The native helper or something else that drivers rely on was lost and is back: they compare their whole state. */
  lookAgain(): void {
    this.#reconciler.observe()
  }

  /** Resolves when nothing is left to do but what waits for its retry. */
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
    await this.#state.close()
  }

  /** What the announcers tell of themselves goes into the reports as it changes. */
  async #followAnnouncer(): Promise<void> {
    const { announcer } = this.#options
    this.#unsubscribe.push(
      announcer.onShards((shards) => this.#reporter.tell({ shards })),
      announcer.onProxyDrain((departure) => this.#reporter.tell({ departure })),
      announcer.onSights((sights) => this.#reporter.tell({ sights })),
      announcer.onBgpSessions((bgpSessions) => this.#reporter.tell({ bgpSessions })),
      announcer.onAddressConflicts((conflicts) =>
        this.#reporter.tell({ addressConflicts: conflicts.slice(0, MOST_CONFLICTS) }),
      ),
    )
    this.#reporter.tell({ shards: announcer.shards(), bgpSessions: await announcer.bgpSessions() })
    this.#reporter.tell({ departure: announcer.proxyDrain() })
    await this.#lookAtFlows()
    this.#every('flows', this.#options.statsEveryMs ?? STATS_EVERY_MS, () => this.#lookAtFlows())
    await this.#lookAtFabric()
    this.#every('fabric', this.#options.observeEveryMs ?? OBSERVE_EVERY_MS, () => this.#lookAtFabric())
  }

  async #lookAtFlows(): Promise<void> {
    try {
      this.#reporter.tell({ flows: await this.#options.announcer.flows() })
    } catch (error) {
      this.#options.log.debug({ event: 'flows-unknown', err: error }, 'the replication of flows cannot be looked at')
    }
  }

  async #lookAtFabric(): Promise<void> {
    try {
      this.#reporter.tell({ fabricAddress: await this.#options.announcer.fabricAddress() })
    } catch (error) {
      this.#options.log.warn({ event: 'fabric-unknown', err: error }, 'the fabric interface cannot be looked at')
    }
  }

  async #lookAtShares(): Promise<void> {
    const { shares } = this.#options
    if (shares !== undefined) this.#reporter.tell({ overShares: await shares.look() })
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
        // The very same answer says that nothing was read anew.
        if (this.#told.get(driver) !== stats) this.#reporter.stats(stats)
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
