import type { ModelView } from '@spout/admission/contract'
import {
  type DrainForecaster,
  type DrainPreview,
  fabricAddressOf,
  type LoadBalancer,
  type OwnershipReader,
  type Placement,
  type PlanDifference,
  type PlanForecaster,
  SpoutError,
} from '@spout/model'
import {
  drainDifference,
  type GroupNode,
  type Planned,
  type PlannedNode,
  planDifference,
  planGroup,
  planLoadBalancer,
} from '@spout/plan'

/** Plans for two nodes that carry everything, and for none of a group that a load balancer names. */
export class TestPlans implements PlanForecaster, DrainForecaster {
  readonly #view: ModelView
  readonly #ownership: OwnershipReader

  constructor(view: ModelView, ownership: OwnershipReader) {
    this.#view = view
    this.#ownership = ownership
  }

  /** All nodes are connected, and no load balancer is on one. */
  forecastDrain(nodeId: string): DrainPreview {
    const own = this.#view.get('node', nodeId)?.value.nodeGroupId
    const group = this.#view.get('nodeGroup', own ?? '')?.value
    if (group === undefined) throw new SpoutError('NotFound', { what: 'Node group', id: own ?? '' })
    const nodes = this.#view
      .list('node')
      .filter(({ nodeGroupId }) => nodeGroupId === group.id)
      .map((node): GroupNode => {
        const scheduling = node.id === nodeId ? 'draining' : node.scheduling
        return { ...node, scheduling, fabricAddress: fabricAddressOf(node), connection: 'connected' }
      })
    const plan = planGroup({ group, nodes, peers: [], advertisements: [], nowMs: 0 })
    const shards = this.#ownership.shards(group.id)
    return drainDifference({ nodeId, group, nodes, plan, shards, waitsFor: null, carried: [], owners: new Map() })
  }

  forecast(before: LoadBalancer | null, after: LoadBalancer | null): PlanDifference {
    const was = before && this.#planned(before, null)
    const is = after && this.#planned(after, was?.plan.placement ?? null)
    return planDifference(was, is, (id) => PLANNED_NODES.find((node) => node.id === id)?.name ?? id)
  }

  #planned(loadBalancer: LoadBalancer, previous: Placement | null): Planned {
    const network = this.#view.get('network', loadBalancer.networkId ?? '')?.value ?? null
    const plan = planLoadBalancer({
      ...{ loadBalancer, network, previous, group: { name: 'default', nodes: PLANNED_NODES } },
      ...{ announcing: { via: 'l2' }, gatewayOwnerIds: [], connectionLimit: null, certificateOf: () => null },
      freePoolNumber: (number) => number + 1,
      now: loadBalancer.createdAt,
    })
    return { loadBalancer, plan, returnPath: network?.returnPath ?? null }
  }
}

const PLANNED_NODES: readonly PlannedNode[] = [1, 2].map((number) => ({
  ...{ id: `00000000-0000-4000-8000-00000000000${number}`, name: `n${number}`, scheduling: 'enabled' },
  ...{ connection: 'connected', features: ['l4.tcp', 'l4.udp', 'l7.http'], loadBalancers: 0 },
}))
