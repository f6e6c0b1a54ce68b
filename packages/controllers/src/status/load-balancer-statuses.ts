import type { ModelView } from '@spout/admission/contract'
import {
  type LoadBalancer,
  type LoadBalancerStatus,
  type LoadBalancerSummary,
  loadBalancerKey,
  type Placement,
  type Serving,
} from '@spout/model'
import { mayLeaveUntilMs } from '@spout/plan'
import type { Clock } from '@spout/runtime'
import type { NodeStateTable } from '../node-states/node-state-table.ts'
import { MOVE_GRACE_MS, type ShardTable } from '../shards/shard-table.ts'
import type { Carriers } from './carriers.ts'
import { KnownStatuses, type WorkedOut } from './known-statuses.ts'
import type { LocalCarriers } from './local-carriers.ts'
import { offerNotice } from './offer-notice.ts'
import { generationOf, type ProvisioningStatus, provisioningStatus } from './provisioning-status.ts'
import type { ServiceSums } from './service-sums.ts'
import { ServingStatuses } from './serving-statuses.ts'

export interface LoadBalancerStatusesOptions {
  readonly view: ModelView
  readonly nodeStates: NodeStateTable
  readonly clock: Clock
  readonly carriers: Carriers
  readonly shards: ShardTable
  readonly sums: ServiceSums
  readonly local: LocalCarriers
}

interface Confirmed {
  readonly generation: number
  readonly at: string
}

/**
 * Computes the statuses of load balancers on demand, and caches them until something changes that they depend on.
 */
export class LoadBalancerStatuses {
  readonly #options: LoadBalancerStatusesOptions
  readonly #confirmed = new Map<string, Confirmed>()
  readonly #serving: ServingStatuses
  readonly #statuses = new KnownStatuses()

  constructor(options: LoadBalancerStatusesOptions) {
    this.#options = options
    this.#serving = new ServingStatuses(options.carriers, (id) => this.ownerOf(id))
  }

  /** The status of a load balancer. For an unknown id it says so. */
  of(id: string): WorkedOut {
    const { view } = this.#options
    const loadBalancer = view.get('loadBalancer', id)?.value
    if (loadBalancer === undefined) return this.#workedOut(id, UNKNOWN, { serving: NOBODY_SERVES }, false)
    if (loadBalancer.localName !== undefined) {
      const { local } = this.#options
      return { summary: local.summary(loadBalancer), status: local.status(loadBalancer), holds: false }
    }
    const placement = view.get('placement', id)?.value ?? null
    return this.#statuses.of(loadBalancer, placement, () => {
      const { status, holds } = this.#provisioningOf(loadBalancer, placement)
      const notice = offerNotice(view, loadBalancer)
      const rest = { serving: this.#serving.of(loadBalancer), ...(notice && { notice }) }
      return this.#workedOut(id, status, rest, holds)
    })
  }

  /** The node that announces the load balancer. Null: no node does, or every node of its group. */
  ownerOf(id: string): string | null {
    const loadBalancer = this.#options.view.get('loadBalancer', id)?.value
    if (loadBalancer?.localName !== undefined) return this.#options.local.ownerOf(loadBalancer)
    const placement = this.#options.view.get('placement', id)?.value
    if (placement?.shard == null) return placement?.ownerNodeId ?? null
    if (!this.#options.carriers.isSharded(id)) return null
    return this.#options.shards.shard(placement.shard.nodeGroupId, placement.shard.number)?.ownerNodeId ?? null
  }

  /** The newest generation that a node confirmed; undefined before the first confirmation. */
  confirmedGeneration(id: string): number | undefined {
    return this.#confirmed.get(id)?.generation
  }

  /** Call when the node confirmed the generation in its entry. */
  confirm(id: string, nodeId: string): void {
    const held = this.#options.nodeStates.get(nodeId, loadBalancerKey(id))
    if (held === null) return
    const generation = generationOf(held.entry)
    if (this.#confirmed.get(id)?.generation === generation) return
    this.#confirmed.set(id, { generation, at: this.#options.clock.now().toISOString() })
    this.#statuses.forget(id)
  }

  statusChanged(id: string): void {
    this.#statuses.forget(id)
  }

  /** Call when a node has another entry of it, or none any more. */
  entryChanged(id: string): void {
    this.#serving.entryChanged(id)
    this.#statuses.forget(id)
  }

  /** Call when the load balancer's serving state may have changed. */
  servingChanged(id: string): void {
    this.#serving.forget(id)
    this.#statuses.forget(id)
  }

  deleted(id: string): void {
    this.#confirmed.delete(id)
    this.servingChanged(id)
  }

  forgetStatuses(): void {
    this.#statuses.forgetAll()
  }

  forgetAll(): void {
    this.#serving.forgetAll()
    this.#statuses.forgetAll()
  }

  /** Still answers, from what is there then. */
  close(): void {
    this.#serving.close()
    this.#statuses.close()
  }

  #workedOut(
    id: string,
    provisioning: ProvisioningStatus,
    rest: Pick<LoadBalancerSummary, 'serving' | 'notice'>,
    holds: boolean,
  ): WorkedOut {
    const { confirmedBy: _, ...status } = provisioning
    const confirmed = this.#confirmed.get(id)
    const summary: LoadBalancerSummary = {
      ...{ ...status, ...rest },
      confirmedGeneration: confirmed?.generation ?? 0,
      confirmedAt: confirmed?.at ?? null,
      ownerNodeId: this.ownerOf(id),
    }
    const { carriers, sums } = this.#options
    const members = () => this.#membersOf(id)
    return {
      summary,
      // Most lists show only the summary, so the rest is computed on access.
      status: {
        ...summary,
        get nodes() {
          return carriers.confirmations(id)
        },
        get members() {
          return members()
        },
        get stats() {
          return sums.of(id)
        },
      },
      holds,
    }
  }

  #membersOf(id: string): LoadBalancerStatus['members'] {
    const loadBalancer = this.#options.view.get('loadBalancer', id)?.value
    return loadBalancer === undefined ? new Map() : this.#serving.membersOf(loadBalancer)
  }

  /** The provisioning status, computed without the cache. */
  provisioningOf(loadBalancer: LoadBalancer): ProvisioningStatus {
    if (loadBalancer.localName !== undefined) return this.#options.local.provisioning(loadBalancer)
    const placement = this.#options.view.get('placement', loadBalancer.id)?.value ?? null
    return this.#provisioningOf(loadBalancer, placement).status
  }

  /** `holds`: see `WorkedOut`. */
  #provisioningOf(
    loadBalancer: LoadBalancer,
    placement: Placement | null,
  ): { readonly status: ProvisioningStatus; readonly holds: boolean } {
    const { view, shards, carriers } = this.#options
    const place = placement?.shard ?? null
    const changedForMs = place === null ? null : shards.changedForMs(place.nodeGroupId, place.number)
    const hasMoved = changedForMs !== null && changedForMs < MOVE_GRACE_MS
    const leaving = this.leavesWithinMs(loadBalancer) > 0
    const status = provisioningStatus({
      loadBalancer,
      placement,
      carriers: carriers.of(loadBalancer.id, place === null ? (placement?.ownerNodeId ?? null) : 'all'),
      shard: place === null ? null : shards.shard(place.nodeGroupId, place.number),
      groupName: place === null ? '' : (view.get('nodeGroup', place.nodeGroupId)?.value.name ?? place.nodeGroupId),
      leaving,
      moving: hasMoved && this.#confirmed.get(loadBalancer.id)?.generation === loadBalancer.generation,
    })
    return { status, holds: !hasMoved && !leaving }
  }

  /**
   * How many milliseconds a requested move may still take to move it off the node that it should leave. 0: there is no
   * move.
   */
  leavesWithinMs({ id, leftNodeId }: LoadBalancer): number {
    const { view, clock } = this.#options
    const place = view.get('placement', id)?.value.shard
    if (leftNodeId === undefined || !place) return 0
    const group = view.get('nodeGroup', place.nodeGroupId)?.value
    const untilMs = group === undefined ? null : mayLeaveUntilMs(group, place.number, leftNodeId)
    return untilMs === null ? 0 : Math.max(0, untilMs - clock.now().getTime())
  }
}

const UNKNOWN: ProvisioningStatus = {
  provisioning: 'pending',
  reason: 'Unknown',
  message: 'There is no such load balancer',
  confirmedBy: null,
}

const NOBODY_SERVES: Serving = {
  state: 'no',
  reason: 'NoListeners',
  message: 'There is no such load balancer.',
  membersUp: 0,
  members: 0,
}
