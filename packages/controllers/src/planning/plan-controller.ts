import type {
  ModelView,
  NewPlacement,
  NodeAddressAdmission,
  Placing,
  PlannedMoveAdmission,
} from '@spout/admission/contract'
import {
  type DrainForecaster,
  type DrainPreview,
  type LoadBalancer,
  loadBalancerOfKey,
  type OwnershipReader,
  type PlanDifference,
  type PlanForecaster,
  SpoutError,
  type StatusReader,
} from '@spout/model'
import { planDifference } from '@spout/plan'
import { type Clock, type Component, done, failed, type Logger, type Outcome, Reconciler } from '@spout/runtime'
import type { Store } from '@spout/store'
import { CarryingGroups } from '../indexes/carrying-groups.ts'
import { ClusterIndex } from '../indexes/cluster-index.ts'
import { PlacementLog } from '../indexes/placement-log.ts'
import type { NodeLiveness } from '../liveness/node-liveness.ts'
import type { SightReader } from '../liveness/peer-watch.ts'
import type { NodeStateTable } from '../node-states/node-state-table.ts'
import { DomainPublisher } from '../publishing/domain-publisher.ts'
import { GroupPublisher } from '../publishing/group-publisher.ts'
import { LoadBalancerPublisher } from '../publishing/load-balancer-publisher.ts'
import { networkOfKey, PLAN_WORKERS, PlanQueue } from '../publishing/plan-queue.ts'
import { ChangeRouter } from './change-router.ts'
import { type DrainForecastOptions, forecastDrain } from './drain-forecast.ts'

export interface PlanControllerOptions {
  /** Must be caught up with the store when `start` is called. */
  readonly view: ModelView
  readonly store: Store
  readonly nodeStates: NodeStateTable
  readonly liveness: NodeLiveness
  /** Reads the drivers' features and the owners of shards. */
  readonly status: StatusReader & Pick<OwnershipReader, 'shards'> & SightReader
  /**
   * Allocates and stores the nodes' own addresses in tenant networks and on the fabric, and stores that planned moves
   * have begun.
   */
  readonly admission: NodeAddressAdmission & PlannedMoveAdmission
  /**
   * Names of physical networks that are the nodes themselves (`hostSegments` of agents). Members of their networks see
   * each node. Default: none.
   */
  readonly hostSegments?: readonly string[]
  readonly clock: Clock
  readonly log: Logger
}

/** How long a burst of plans may run before it yields to other work, such as requests, reports and heartbeats. */
const YIELD_EVERY_MS = 1

/**
 * Derives the wanted state of every node from the model, and publishes it.
 *
 * It works on keys: a change queues the load balancers and networks that it affects. If a plan differs from the stored
 * placement, the new placement is stored before anything is published. So after a restart the plans yield the same
 * bytes, and nodes have nothing to do.
 */
export class PlanController implements Component, Placing, PlanForecaster, DrainForecaster {
  readonly name = 'plan-controller'
  readonly #options: PlanControllerOptions
  readonly #cluster: ClusterIndex
  readonly #placements: PlacementLog
  readonly #groups: GroupPublisher
  readonly #domains: DomainPublisher
  readonly #loadBalancers: LoadBalancerPublisher
  readonly #changes: ChangeRouter
  readonly #forDrains: DrainForecastOptions
  readonly #queue: PlanQueue
  readonly #reconciler: Reconciler
  /** Ids of the load balancers that have not been planned since the start. Null: all have been. */
  #unplanned: Set<string> | null = new Set()
  #placesNew = false
  #yielding: Promise<void> | null = null
  #yieldedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: PlanControllerOptions) {
    this.#options = options
    this.#cluster = new ClusterIndex(options.view)
    this.#placements = new PlacementLog(options.store)
    this.#queue = new PlanQueue(options)
    const parts = {
      ...options,
      cluster: this.#cluster,
      carryingGroups: new CarryingGroups(options.view),
      placements: this.#placements,
      queue: this.#queue,
    }
    this.#groups = new GroupPublisher(parts)
    this.#domains = new DomainPublisher(parts)
    this.#loadBalancers = new LoadBalancerPublisher({ ...parts, domains: this.#domains })
    this.#changes = new ChangeRouter({ ...parts, groups: this.#groups })
    this.#forDrains = { ...parts, groups: this.#groups }
    this.#reconciler = new Reconciler({
      name: this.name,
      queue: this.#queue.keys,
      log: options.log,
      reconcile: (key) => this.#reconcile(key),
      workers: PLAN_WORKERS,
    })
  }

  /** How many keys wait for their plan. */
  get backlog(): number {
    return this.#queue.keys.size
  }

  /** The node states are ready once every load balancer that exists at the start has been planned. */
  start(): void {
    const { view } = this.#options
    this.#changes.load()
    // A node must know its shards before it gets entries that use them.
    this.#groups.publishAll()
    this.#placements.load(view)
    const loadBalancers = view.list('loadBalancer')
    for (const { id } of loadBalancers) this.#cluster.loadBalancerChanged(id)
    this.#unplanned = new Set(loadBalancers.map(({ id }) => id))
    this.#changes.follow()
    for (const placement of view.list('placement'))
      if (view.get('loadBalancer', placement.id) === null) this.#queue.loadBalancer(placement.id)
    this.#queue.loadBalancers(loadBalancers.map(({ id }) => id))
    this.#reconciler.start()
    this.#placesNew = true
    this.#settle()
  }

  /** @returns null before the start, or if planning fails. Then the load balancer is placed after it was stored */
  placeNew(loadBalancer: LoadBalancer): NewPlacement | null {
    if (!this.#placesNew) return null
    try {
      return this.#loadBalancers.placeNew(loadBalancer)
    } catch (error) {
      const what = { event: 'place-threw', loadBalancerId: loadBalancer.id, err: error, bug: true }
      this.#options.log.error(what, 'it will be placed once it is stored')
      return null
    }
  }

  forecast(before: LoadBalancer | null, after: LoadBalancer | null): PlanDifference {
    this.#requirePlans()
    const parts = [before, after].map((one) => one && this.#loadBalancers.forecast(one))
    const nodeName = (id: string): string => this.#options.view.get('node', id)?.value.name ?? id
    return planDifference(parts[0] ?? null, parts[1] ?? null, nodeName)
  }

  forecastDrain(nodeId: string): DrainPreview {
    this.#requirePlans()
    return forecastDrain(this.#forDrains, nodeId)
  }

  /** @throws SpoutError Unavailable while nothing is planned here */
  #requirePlans(): void {
    if (this.#placesNew) return
    throw new SpoutError('Unavailable', { what: 'The plan', reason: 'no control plane plans here at the moment' })
  }

  async stop(): Promise<void> {
    this.#placesNew = false
    this.#changes.close()
    this.#groups.close()
    await this.#reconciler.stop()
  }

  async #reconcile(key: string): Promise<Outcome> {
    await this.#letOthersRun()
    const networkId = networkOfKey(key)
    const id = networkId ?? loadBalancerOfKey(key)!
    try {
      if (networkId !== null) await this.#domains.publish(networkId)
      else await this.#loadBalancers.publish(id)
    } catch (error) {
      if (error instanceof SpoutError) return failed(`${error.code}: ${error.message}`)
      // A bug with one load balancer must not keep the node states of all others from becoming ready.
      this.#planned(id)
      throw error
    } finally {
      this.#queue.planned(key)
    }
    this.#planned(id)
    return done
  }

  /**
   * Yields to other work. All plans that wait here continue in the same turn of the event loop. So load balancers that
   * one commit changed are published together, and an address that moves between them is never without an entry on a
   * node.
   */
  async #letOthersRun(): Promise<void> {
    const { clock } = this.#options
    if (this.#yielding === null && clock.monotonicMs() - this.#yieldedAtMs < YIELD_EVERY_MS) return
    this.#yielding ??= new Promise((resolve) =>
      setImmediate(() => {
        this.#yielding = null
        this.#yieldedAtMs = clock.monotonicMs()
        resolve()
      }),
    )
    await this.#yielding
  }

  #planned(id: string): void {
    this.#unplanned?.delete(id)
    this.#settle()
  }

  #settle(): void {
    if (this.#unplanned === null || this.#unplanned.size > 0) return
    this.#unplanned = null
    this.#options.nodeStates.markReady()
    this.#options.log.info({ event: 'node-states-ready' }, 'every load balancer is planned')
  }
}
