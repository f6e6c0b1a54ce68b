import {
  type Announce,
  isAnnouncedByEveryNode,
  type LoadBalancerEntry,
  type Network,
  type Placement,
} from '@spout/model'
import { announceInside, announceVip } from '../announcers/registry.ts'
import type { Sharded } from '../group/carrying-group.ts'
import { placeShard } from '../placement/place-shard.ts'
import type { Reason } from '../reason.ts'
import type { Sharding } from './announcing-in.ts'
import type { LoadBalancerPlan, LoadBalancerPlanInput } from './load-balancer-plan.ts'
import { neededFeatures } from './needed-features.ts'
import { NO_NETWORK } from './not-placed.ts'
import { planEntry } from './plan-entry.ts'
import { planOwner } from './plan-owner.ts'
import { NOWHERE, planPlacement } from './plan-placement.ts'
import { planPools } from './plan-pools.ts'
import { needsSymmetricPath } from './symmetric-path.ts'

/** Plans one load balancer. Pure: the same input gives the same bytes. */
export function planLoadBalancer(input: LoadBalancerPlanInput): LoadBalancerPlan {
  const { loadBalancer, network } = input
  if (network === null) return { ...planPlacement(input, NOWHERE, NO_NETWORK, []), entries: new Map() }
  const pools = planPools(input)
  if (pools === null) {
    const message = `Network \`${network.name || network.id}\` has no pool number left.`
    return { ...planPlacement(input, NOWHERE, { code: 'NoPoolNumber', message }, []), entries: new Map() }
  }
  const placed = pools.map((pool) => pool.placed)
  const entry = planEntry(
    loadBalancer,
    network.number,
    pools.flatMap(({ node }) => node ?? []),
    input,
  )
  return 'groupId' in input.announcing
    ? byShard(input, input.announcing, network, placed, entry)
    : byOwner(input, network, placed, entry)
}

/**
 * The plan if the planner chooses the node that announces. The other nodes have the same entry, but do not announce.
 */
function byOwner(
  input: LoadBalancerPlanInput,
  network: Network,
  pools: Placement['pools'],
  entry: LoadBalancerEntry,
): LoadBalancerPlan {
  const { loadBalancer, group } = input
  const owner = planOwner(input, network)
  const reason = network.returnPath === 'gateway' ? explainGateway(owner.reason, network) : owner.reason
  const placed = planPlacement(input, { ownerNodeId: owner.nodeId, shard: null }, reason, pools)
  if (owner.refused) return { ...placed, entries: new Map() }
  const announcing = announced(entry, loadBalancer.enabled ? (at) => announceAt(input, at, null) : null)
  return {
    ...placed,
    entries: new Map(group.nodes.map((node) => [node.id, node.id === owner.nodeId ? announcing : entry])),
  }
}

/** The plan in a group with shards. All nodes have the same entry, and the shard's master announces by itself. */
function byShard(
  input: LoadBalancerPlanInput,
  announcing: Sharded & Sharding,
  network: Network,
  pools: Placement['pools'],
  entry: LoadBalancerEntry,
): LoadBalancerPlan {
  const { loadBalancer, group, previous } = input
  const { groupId } = announcing
  const before = previous?.shard?.nodeGroupId === groupId && previous.networkId === network.id ? previous.shard : null
  const { number, reason, refused } = placeShard({
    ...announcing,
    groupName: group.name,
    nodes: group.nodes,
    previousShard: before?.number ?? null,
    needs: neededFeatures(loadBalancer, network.returnPath, input),
    previousRefusal: refusalOf(previous),
  })
  const routed =
    isAnnouncedByEveryNode({ announcer: announcing.via }) && loadBalancer.vips.some(({ scope }) => scope === 'fabric')
  const shown = routed ? explainRouted(reason, input, network, number) : reason
  const shard =
    before?.number === number ? before : { nodeGroupId: groupId, number, since: announcing.networkSince ?? input.now }
  const placed = planPlacement(
    input,
    { ownerNodeId: null, shard },
    network.returnPath === 'gateway' && !routed ? explainGateway(shown, network) : shown,
    pools,
  )
  if (refused) return { ...placed, entries: new Map() }
  const fabricShard = routed && !needsSymmetricPath(loadBalancer, network) ? null : number
  const told = announced(entry, loadBalancer.enabled ? (at) => announceAt(input, at, number, fabricShard) : null)
  return { ...placed, entries: new Map(group.nodes.map((node) => [node.id, told])) }
}

const refusalOf = (previous: Placement | null): Reason | null =>
  previous?.reason.code === 'FeatureUnavailable' ? previous.reason : null

/**
 * How a node announces the VIP at an index.
 * @param shard of the load balancer; null: it has none
 * @param fabricShard the shard whose master alone announces fabric addresses; null: the announcement does not depend on
 * one
 */
function announceAt(
  { loadBalancer: { vips }, announcing }: LoadBalancerPlanInput,
  at: number,
  shard: number | null,
  fabricShard = shard,
): Announce {
  const { scope = 'tenant', poolId = null } = vips[at] ?? {}
  return scope === 'tenant'
    ? announceInside(announcing.via, shard)
    : announceVip(announcing, { scope, poolId }, fabricShard)
}

/** Says which nodes announce the load balancer, if its group announces to routers. */
function explainRouted(
  reason: Reason,
  { loadBalancer, group }: LoadBalancerPlanInput,
  network: Network,
  shard: number,
): Reason {
  if (reason.code !== 'Placed') return reason
  if (!needsSymmetricPath(loadBalancer, network))
    return { ...reason, message: `Every node of group \`${group.name}\` announces it to its routers.` }
  const held = network.returnPath === 'gateway' ? "the members' gateway" : 'the address that members see'
  return {
    ...reason,
    message: `The master of shard ${shard} of group \`${group.name}\` announces it to its routers: it holds ${held}.`,
  }
}

const explainGateway = (reason: Reason, network: Network): Reason =>
  reason.code === 'Placed'
    ? {
        ...reason,
        message: `${reason.message} It holds the members' gateway of network \`${network.name || network.id}\`, which all load balancers of the network share.`,
      }
    : reason

const announced = (entry: LoadBalancerEntry, how: ((at: number) => Announce) | null): LoadBalancerEntry => ({
  ...entry,
  vips: entry.vips.map((vip, at) => ({ ...vip, announce: how === null ? null : how(at) })),
})
