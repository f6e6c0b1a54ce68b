import { CurrentStatus, type DnsPublisher } from '@spout/controllers'
import { type DnsReader, type DomainChecks, type DrainForecaster, type PlanForecaster, SpoutError } from '@spout/model'
import { type Clock, Lifecycle } from '@spout/runtime'
import type { Logger } from '@spout/runtime/logger'
import { AgentLink, type AuditLog, type Authenticator, type CertificateAuthority } from '@spout/server'
import type { Lease } from '@spout/store'
import type { HomeCluster } from './cluster/home-cluster.ts'
import type { ControlPlaneConfig } from './config.ts'
import { type ControlLoops, createControlLoops } from './control-loops.ts'
import { ensureFirstObjects } from './first-objects.ts'
import type { ModelStore } from './model-store.ts'

export interface LeaderPartOptions {
  readonly config: ControlPlaneConfig
  readonly model: ModelStore
  readonly authenticator: Authenticator
  readonly authority: CertificateAuthority
  readonly audit: AuditLog
  /** Null outside of a cluster. */
  readonly home: HomeCluster | null
  readonly clock: Clock
  readonly log: Logger
}

/** What runs from a start until its end. */
interface Term {
  readonly loops: ControlLoops
  readonly link: AgentLink
}

/** Longer than any process runs: while something of it runs, the store must refuse its writes. */
const FOR_EVER_MS = Number.MAX_SAFE_INTEGER

/**
 * What one control plane at a time does: the control loops and the agents' link. Every start makes all of it anew, so that
 * nothing is left of the last time. What others read of it has a place here that stays.
 */
export class LeaderPart {
  /** At rest it is as after a start of the process, before a node has reported. */
  readonly status: CurrentStatus
  readonly dnsNames: DnsReader = { names: (id) => this.#loops.dns.names(id) }
  readonly domains: DomainChecks
  readonly plans: PlanForecaster & DrainForecaster = {
    forecast: (...change) => this.#loops.planner.forecast(...change),
    forecastDrain: (nodeId) => this.#loops.planner.forecastDrain(nodeId),
  }
  readonly #options: LeaderPartOptions
  /** Loops that were never started. */
  readonly #atRest: ControlLoops
  #term: Term | null = null

  constructor(options: LeaderPartOptions) {
    const { config, model } = options
    this.#options = options
    this.#atRest = createControlLoops(config, model, options)
    this.#atRest.close()
    this.status = new CurrentStatus(model.view, this.#atRest.status)
    this.domains = {
      enabled: this.#atRest.domains.enabled,
      check: async (id) => this.#leading().domains.check(id),
    }
  }

  /**
   * Starts once the view shows all that earlier leaders wrote.
   * @returns how to stop it wholly @throws what keeps a part from starting; then nothing runs
   */
  async start(lease: Lease): Promise<() => Promise<void>> {
    const { config, model, authenticator, home, authority, clock, log } = this.#options
    await model.view.caughtUp(await model.store.revision())
    await ensureFirstObjects(config, model, this.#options)
    const loops = createControlLoops(config, model, { clock, log })
    const link = this.#createLink(loops, lease)
    const parts = new Lifecycle({ log, stopDeadlineMs: FOR_EVER_MS })
      .add({ name: 'status', start: () => this.status.follow(loops.status), stop: () => loops.close() })
      .add(loops.planner)
      .add({ name: 'tokens', start: () => authenticator.tokens.start(), stop: () => authenticator.tokens.stop() })
      .add(loops.sweeper)
      .add(loops.rebalancer)
      .add(loops.dns)
      .add(loops.domains)
      .add(loops.adopter)
      .add(link)
    const { authorityConfigMap: configMap } = config.kubernetes
    if (home !== null && configMap !== '')
      parts.add(home.authorityPublisher({ configMap, authority: authority.certificate, clock, log }))
    const stop = async (): Promise<void> => {
      model.admission.placeBy(null)
      await parts.stop()
      this.#term = null
      this.status.rest()
    }
    this.#term = { loops, link }
    model.admission.placeBy(loops.planner)
    try {
      await parts.start()
    } catch (error) {
      await stop()
      throw error
    }
    return stop
  }

  /** Whether it runs. */
  get leads(): boolean {
    return this.#term !== null
  }

  /** Keys that wait to be planned. */
  get backlog(): number {
    return this.#loops.planner.backlog
  }

  /** Whether every node's state is planned. */
  get isPlanned(): boolean {
    return this.#loops.nodeStates.ready()
  }

  get zones(): DnsPublisher['zones'] {
    return this.#loops.dns.zones
  }

  /** Agents with an open state stream. */
  get connectedAgents(): number {
    return this.#term?.link.connected ?? 0
  }

  /** Null at rest: agents connect to the leader. */
  get agentLinkPort(): number | null {
    return this.#term?.link.port ?? null
  }

  get #loops(): ControlLoops {
    return this.#term?.loops ?? this.#atRest
  }

  #leading(): ControlLoops {
    if (this.#term !== null) return this.#term.loops
    throw new SpoutError('Unavailable', { what: 'The check', reason: 'another control plane leads' })
  }

  #createLink(loops: ControlLoops, { token }: Lease): AgentLink {
    const { config, model, authority, audit, home, clock, log } = this.#options
    const { store, view, admission } = model
    const { keptIn } = store.leases
    return new AgentLink({
      ...{ audit, authority, store, view, admission, states: loops.nodeStates, reports: loops.status, clock, log },
      listen: { host: config.agentLink.host, port: config.agentLink.port },
      hosts: config.agentLink.names,
      term: keptIn === undefined ? null : { store: keptIn, token },
      ...(home && { cluster: { serviceAccounts: home.serviceAccounts, nodeGroup: config.kubernetes.nodeGroup } }),
    })
  }
}
