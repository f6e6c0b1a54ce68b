import { type KindReflector, NativeLoadBalancers, pageLink } from '@spout/connector'
import type { GatewayControllerCounters } from '@spout/intent-gateway'
import type { IngressControllerCounters } from '@spout/intent-ingress'
import type { LoadBalancerControllerCounters } from '@spout/intent-load-balancer'
import { externalRanges, type ServiceControllerCounters } from '@spout/intent-service'
import { clusterUid, type EventRecorder, type Transport } from '@spout/kube'
import { type Clock, type Logger, retry } from '@spout/runtime'
import { BalancedCluster } from './balanced-cluster.ts'
import type { ConnectorConfig } from './config.ts'
import type { NamedProject, OpenedProject } from './opened-project.ts'
import type { ConfiguredProject } from './projects.ts'

export interface BalancingOptions {
  readonly config: ConnectorConfig
  readonly transport: Transport
  /** At least one. */
  readonly projects: readonly ConfiguredProject[]
  readonly events: EventRecorder
  readonly clock: Clock
  readonly log: Logger
}

const RETRY_MS = 2000

/**
 * The work of the connector that leads: it reads the cluster and the control plane, then keeps load balancers as the
 * cluster's objects ask, until it is stopped.
 */
export class Balancing {
  readonly #options: BalancingOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> | null = null
  /** Projects whose credential the control plane knows. */
  readonly #named = new Map<ConfiguredProject, NamedProject>()
  /** Projects whose load balancers are kept now. */
  #balanced: ReadonlySet<ConfiguredProject> = new Set()
  #cluster: BalancedCluster | null = null

  constructor(options: BalancingOptions) {
    this.#options = options
  }

  get ready(): boolean {
    return this.#cluster?.ready ?? false
  }

  get counters(): ServiceControllerCounters | null {
    return this.#cluster?.counters ?? null
  }

  get gatewayCounters(): GatewayControllerCounters | null {
    return this.#cluster?.gatewayCounters ?? null
  }

  get ingressCounters(): IngressControllerCounters | null {
    return this.#cluster?.ingressCounters ?? null
  }

  get loadBalancerCounters(): LoadBalancerControllerCounters | null {
    return this.#cluster?.loadBalancerCounters ?? null
  }

  /** The reflectors' counters by kind; nothing before there are any. */
  get reflectors(): readonly KindReflector[] {
    return this.#cluster?.reflectors ?? []
  }

  /** An operator confirms that missing objects were deleted; this deletes their load balancers. */
  confirm(): void {
    this.#options.log.warn(
      { event: 'confirmed' },
      'an operator confirmed that missing objects were deleted; their load balancers are deleted',
    )
    this.#cluster?.confirm()
  }

  start(): void {
    this.#running ??= this.#begin()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await this.#cluster?.stop()
  }

  /** Asks the cluster and each project's control plane until they answer. A project that does not delays no other. */
  async #begin(): Promise<void> {
    const { clock, log, projects } = this.#options
    const { signal } = this.#stopping
    const onFailure = ({ message }: Error) =>
      log.warn(
        { event: 'cannot-begin', reason: message },
        'the cluster or the control plane does not answer; will try again',
      )
    const options = { clock, signal, firstPauseMs: RETRY_MS, longestPauseMs: RETRY_MS, onFailure }
    await retry(async () => {
      const unnamed = projects.filter((project) => !this.#named.has(project))
      await this.#each(unnamed, (project) => this.#name(project), onFailure)
      if (this.#named.size > this.#balanced.size) {
        const opened = await this.#each([...this.#named.keys()], (project) => this.#open(project), onFailure)
        // A project that has started keeps running: new ones wait until all of them answer.
        const joins = opened.length > this.#balanced.size
        if (joins && [...this.#balanced].every((known) => opened.some(({ project }) => project === known)))
          await this.#balance(opened, signal)
      }
      return this.#balanced.size === projects.length ? 'done' : 'again'
    }, options)
  }

  /** The results for those that succeed; failures of the others are logged. */
  async #each<T>(
    projects: readonly ConfiguredProject[],
    work: (project: ConfiguredProject) => Promise<T>,
    onFailure: (error: Error) => void,
  ): Promise<readonly T[]> {
    const answers = await Promise.allSettled(projects.map(work))
    return answers.flatMap((answer, at) => {
      if (answer.status === 'fulfilled') return [answer.value]
      const { message } = answer.reason as Error
      const rule = projects[at]?.rule
      if (!this.#stopping.signal.aborted) onFailure(new Error(rule == null ? message : `${rule.project}: ${message}`))
      return []
    })
  }

  /** Asks the control plane which project the credential belongs to. */
  async #name(project: ConfiguredProject): Promise<void> {
    const service = new NativeLoadBalancers(project.sessions)
    const projectId = await service.projectId()
    const same = [...this.#named].find(([, other]) => other.projectId === projectId)?.[0]
    if (same !== undefined)
      throw new Error(
        `its credential is for project ${projectId}, as that of ${same.rule?.project} is: one rule can name all namespaces`,
      )
    this.#named.set(project, { project, projectId, service })
  }

  async #open(project: ConfiguredProject): Promise<OpenedProject> {
    const named = this.#named.get(project)
    if (named === undefined) throw new Error('the project of its credential is not known')
    return { ...named, loadBalancers: await named.service.list() }
  }

  /**
   * Begins to balance, or begins anew with more projects. It begins anew because the load balancers of all projects must be
   * known before the cluster's first list: only then can the deletion guard keep those whose objects are missing.
   */
  async #balance(opened: readonly OpenedProject[], signal: AbortSignal): Promise<void> {
    const { config, transport, events, projects, clock, log } = this.#options
    const cluster = config.kubernetes.clusterName || (await clusterUid(transport, signal))
    if (cluster === null)
      throw new Error('kubernetes.clusterName is not set, and namespace kube-system may not be read for its UID')
    await this.#cluster?.stop()
    this.#cluster = null
    if (signal.aborted) return
    const { className, isDefault, namespaces, mode, externalIPs, endpointSlicesBy } = config.services
    const balanced = new BalancedCluster({
      transport,
      events,
      settings: {
        cluster,
        className,
        isDefault,
        slicesBy: endpointSlicesBy,
        namespaces: namespaces.length === 0 ? null : namespaces,
        mode,
        externalRanges: externalRanges(externalIPs),
        page: pageLink(config.spout.pageUrl),
      },
      projects: opened,
      rules: projects.flatMap(({ rule }) => rule ?? []),
      clock,
      log,
    })
    this.#cluster = balanced
    this.#balanced = new Set(opened.map(({ project }) => project))
    balanced.start()
    log.info({ event: 'balancing', cluster, projects: opened.length }, 'reading the cluster and the control plane')
  }
}
