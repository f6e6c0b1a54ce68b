import type { AgentLink, StateLine } from '@spout/client/agent-link'
import type { Announcer, CarriedRequest, EntryFollower, ProbeLimits, ProberOptions } from '@spout/dataplane'
import type { LeaderTerm } from '@spout/model/leader-term'
import { FABRIC_OF_GROUP } from '@spout/model/node-state'
import type { Clock, Component } from '@spout/runtime'
import { VERSION } from '@spout/runtime/version'
import { type AccessLogCounts, AccessLogs, type AccessLogsOptions } from './access-logs.ts'
import { CertificateFiles } from './certificate-files.ts'
import type { Domains } from './domains.ts'
import { FabricGate, type GroupFabric } from './fabric-gate.ts'
import type { AgentFigures } from './figures.ts'
import { followLink, type LinkServers } from './follow-link.ts'
import { HighestTerm } from './highest-term.ts'
import { LoadBalancerMetrics } from './load-balancer-metrics.ts'
import { LocalEntries, type LocalNodeState } from './local-entries.ts'
import { MemberHealthFeed } from './member-health-feed.ts'
import { NodeReadings, type NodeSources, OBSERVE_EVERY_MS } from './node-readings.ts'
import { NodeReconciler } from './reconcile-node.ts'
import { Repeats } from './repeats.ts'
import { Reporter } from './reporter.ts'
import { RequestFigures } from './request-figures.ts'
import { StateFile } from './state-file.ts'

export interface NodeAgentOptions extends NodeSources {
  /** Random, new at each start. */
  readonly session: string
  /** The file that holds the last good state. */
  readonly stateFile: string
  /** Null: there is no control plane, and the node has `local` alone. */
  readonly link: (() => AgentLink) | null
  /** What the node's own settings want of it. Null or absent: nothing. */
  readonly local?: LocalNodeState | null
  /** The file that holds the highest term of leading that was followed. Default: none is remembered over a restart. */
  readonly termFile?: string
  /** Those that `link` leads to, one after the other. Default: one. */
  readonly servers?: LinkServers
  /** The memory-backed directory of the listeners' certificates. */
  readonly certificateDirectory: string
  /** Null or absent: the agent works on one interface, whatever its group names. */
  readonly fabric?: GroupFabric | null
  readonly domains: Domains
  /** Followers of load-balancer entries besides drivers. Default: none. */
  readonly followers?: readonly EntryFollower[]
  /** All announcers of the node as one. */
  readonly announcer: Announcer
  readonly checks: ProberOptions['checks']
  /** Where access logs go. Default: nowhere. */
  readonly accessLogs?: AccessLogsOptions
  /** Default: the prober's own limits. */
  readonly probeLimits?: ProbeLimits
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
}

const STOP_GRACE_MS = 3000
/** How often a missing fabric interface is looked for. */
const LOOK_FOR_FABRIC_MS = 5000

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
  readonly #repeats: Repeats
  readonly #readings: NodeReadings
  readonly #local: LocalEntries
  readonly #fabric: FabricGate

  constructor(options: NodeAgentOptions) {
    this.#options = options
    const { log } = options
    this.#accessLogs = options.accessLogs === undefined ? null : new AccessLogs(options.accessLogs)
    this.#state = new StateFile(options.stateFile, (error) =>
      log.error({ event: 'state-file-failed', err: error }, 'the state file cannot be written; forwarding goes on'),
    )
    this.#fabric = new FabricGate(options.fabric ?? null, (lines) => this.#reconciler.take(this.#local.merge(lines)))
    this.#reporter = new Reporter({
      session: options.session,
      features: () => this.#features(),
      local: (options.local?.entries ?? []).filter((entry) => entry.kind === 'load-balancer'),
      send: options.link && ((report, signal) => linkOf(options).report(report, signal)),
      clock: options.clock,
      log,
    })
    this.#certificates = new CertificateFiles({
      directory: options.certificateDirectory,
      fetch: (loadBalancerId, ids, signal) => linkOf(options).certificates(loadBalancerId, ids, signal),
      onArrived: (key) => this.#reconciler.look([key]),
      log,
    })
    this.#metrics = new LoadBalancerMetrics({
      drivers: options.drivers,
      down: (key) => this.#health?.down(key) ?? new Set(),
      latencies: (listenerId) => this.#requests.of(listenerId),
      clock: options.clock,
    })
    this.#local = new LocalEntries(options.local ?? null, (message) => log.error({ event: 'router-id-taken' }, message))
    this.#repeats = new Repeats(options.clock)
    this.#readings = new NodeReadings(options, {
      reporter: this.#reporter,
      requests: this.#requests,
      accessLogs: this.#accessLogs,
      health: () => this.#health,
      repeats: this.#repeats,
    })
    const { before, after } = this.#certificates
    this.#reconciler = new NodeReconciler({
      domains: options.domains,
      drivers: options.drivers,
      preparers: [before],
      followers: [...(options.followers ?? []), after],
      announcer: options.announcer,
      group: this.#fabric.follow(options.group),
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
    this.#reporter.tell({ version: VERSION })
    await this.#readings.followGroup()
    this.#reporter.start()
    this.#reconciler.takeLocal(this.#local.start(this.#state.entries))
    await this.#follow()
    this.#repeats.every('observe', this.#options.observeEveryMs ?? OBSERVE_EVERY_MS, () =>
      this.#reconciler.observeRested(),
    )
    this.#repeats.every('fabric-choice', LOOK_FOR_FABRIC_MS, () => this.#fabric.lookAgain())
    this.#readings.start()
  }

  /** What the planner may ask of this node. */
  #features(): readonly string[] {
    const own = this.#fabric.missing === null ? [FABRIC_OF_GROUP] : []
    return [...new Set([...this.#options.drivers.flatMap((driver) => [...driver.features]), ...own])].sort()
  }

  /** Without a control plane, the node's own settings are the full set. */
  async #follow(): Promise<void> {
    const { link, servers, termFile = null, random, clock, log } = this.#options
    const onConnect = () => {
      this.#fabric.begin()
      this.#reconciler.begin()
      this.#reconciler.take(this.#local.begin())
    }
    const onLines = (lines: readonly StateLine[]) => this.#fabric.take(lines)
    if (link === null) {
      onConnect()
      onLines([{ type: 'synced' }])
      return
    }
    const highest = await HighestTerm.open(termFile, (error) =>
      log.error({ event: 'term-file-failed', err: error }, 'the highest term is not kept over a restart'),
    )
    const admit = (term: LeaderTerm | null) => highest.admit(term)
    this.#following = followLink(
      { link, ...(servers && { servers }), admit, onConnect, onLines, random, clock, log },
      this.#stopping.signal,
    )
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
    this.#readings.close()
    this.#repeats.close()
    this.#health?.close()
    await this.#following
    await this.#reporter.stop()
    await this.#reconciler.stop(STOP_GRACE_MS)
    this.#certificates.close()
    await this.#accessLogs?.close()
    await this.#state.close()
  }
}

function linkOf({ link }: Pick<NodeAgentOptions, 'link'>): AgentLink {
  if (link === null) throw new Error('there is no control plane')
  return link()
}
