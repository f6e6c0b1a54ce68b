import type { HashedEntry } from '@spout/admission/contract'
import {
  type Announce,
  awaitsMember,
  type EntryReport,
  isAnnouncedByEveryNode,
  type LoadBalancer,
  type LoadBalancerStatus,
  type NodeStateEntry,
  type NodeVip,
  type Placement,
  type ShardStatus,
  shardOfAnnounce,
} from '@spout/model'
import { NO_NETWORK } from '@spout/plan'
import type { Liveness } from '../liveness/node-liveness.ts'

/** A node that has the load balancer's entry, with its report of the entry. */
export interface Carrier {
  readonly nodeId: string
  readonly name: string
  readonly liveness: Liveness
  readonly wanted: HashedEntry
  readonly report: EntryReport | null
}

/** Everything that the provisioning status of a load balancer depends on. */
export interface ProvisioningInput {
  readonly loadBalancer: LoadBalancer
  readonly placement: Placement | null
  readonly carriers: readonly Carrier[]
  /** The shard of `placement`, as its nodes report it. Null: it is in none, or no node has reported. */
  readonly shard: ShardStatus | null
  readonly groupName: string
  /** Whether the shard's owner has just changed, and this generation was confirmed before. */
  readonly moving: boolean
  /** Whether a requested move may still take the shard off the node that the load balancer should leave. */
  readonly leaving: boolean
}

export interface ProvisioningStatus extends Pick<LoadBalancerStatus, 'provisioning' | 'reason' | 'message'> {
  /** The node that confirmed it. Null: it is not active, or active without a confirmation. */
  readonly confirmedBy: string | null
}

/** The provisioning status of a load balancer's newest generation. It is not active before a node has confirmed it. */
export function provisioningStatus(input: ProvisioningInput): ProvisioningStatus {
  const { loadBalancer, placement, carriers } = input
  // Without a network there are no members, so nodes have nothing to do. But if it had a network, it must be planned
  // first, so that nodes remove it.
  if (placement === null ? loadBalancer.networkId === null : placement.reason.code === NO_NETWORK.code)
    return { ...active(NO_NETWORK.code, NO_NETWORK.message), confirmedBy: null }
  if (placement === null) return pending('WaitingForPlan', 'No node was chosen yet')
  const { ownerNodeId, shard, reason } = placement
  if (shard === null ? ownerNodeId === null : reason.code !== 'Placed') return failure(reason.code, reason.message)
  if (carriers.some(({ wanted }) => generationOf(wanted.entry) < loadBalancer.generation)) return UNPLANNED
  if (shard === null) {
    const owner = carriers.find(({ nodeId }) => nodeId === ownerNodeId)
    return owner === undefined ? UNPLANNED : onNode(owner, () => true, `Node ${owner.name} carries it`)
  }
  const [some] = carriers
  if (some === undefined) return UNPLANNED
  const vips = some.wanted.entry.kind === 'load-balancer' ? some.wanted.entry.vips : []
  const routed = vips.some(({ announce }) => isRouted(announce))
  const sharded = vips.some(({ announce }) => followsShard(announce))
  if (!routed && !sharded) return onAny(carriers)
  const statuses = [...(sharded ? [onShard(input, shard.number)] : []), ...(routed ? [onAny(carriers)] : [])]
  return statuses.reduce((worst, one) => (SEVERITY[one.provisioning] > SEVERITY[worst.provisioning] ? one : worst))
}

/** The status of VIPs that follow a shard: only the confirmation of the shard's master counts. */
function onShard(input: ProvisioningInput, number: number): ProvisioningStatus {
  const { loadBalancer, carriers, shard, groupName, moving, leaving } = input
  const place = `shard ${number} of group \`${groupName}\``
  const owner = carriers.find(({ nodeId }) => nodeId === shard?.ownerNodeId)
  if (shard?.state === 'two-owners') {
    const names = carriers.filter(({ nodeId }) => shard.masterNodeIds.includes(nodeId)).map(({ name }) => `\`${name}\``)
    return failure('TwoOwners', `Nodes ${names.join(' and ')} both say that they are master of ${place}`)
  }
  if (leaving && owner !== undefined && owner.nodeId === loadBalancer.leftNodeId)
    return pending('FailingOver', `Shard ${number} of group \`${groupName}\` leaves node \`${owner.name}\``)
  const status =
    owner === undefined
      ? pending('NoOwner', `No node is master of ${place}`)
      : onNode(owner, followsShard, `Shard ${number} of group \`${groupName}\`; node \`${owner.name}\` is its master`)
  if (!moving || status.provisioning !== 'pending' || status.reason === 'WaitingForPlan') return status
  return { ...active('Moving', `It moves to another node: ${status.message}`), confirmedBy: null }
}

/** The status of VIPs that every node announces: the confirmation of one node is enough. */
function onAny(carriers: readonly Carrier[]): ProvisioningStatus {
  const names = carriers
    .filter((carrier) => onNode(carrier, isRouted, '').provisioning === 'active')
    .map(({ name }) => `\`${name}\``)
  const words = `${names.length} of ${carriers.length} nodes carry it: ${names.join(', ')}`
  return carriers
    .map((carrier) => onNode(carrier, isRouted, words))
    .reduce((best, one) => (SEVERITY[one.provisioning] < SEVERITY[best.provisioning] ? one : best))
}

/**
 * The status of the load balancer on one node.
 * @param counts whether the node must announce a VIP with this announcement
 * @param done the message if the node has confirmed it
 */
function onNode(
  { nodeId, name, liveness, wanted, report }: Carrier,
  counts: (announce: Announce) => boolean,
  done: string,
): ProvisioningStatus {
  if (report === null || report.hash !== wanted.hash) {
    if (liveness === 'connected')
      return pending('WaitingForNode', `Node ${name} has not confirmed the newest change yet`)
    return pending('NodeDisconnected', `Node ${name} carries it and is not connected: it goes on with what it had`)
  }
  if (report.state === 'failed')
    return failure(report.reason ?? 'Failed', `Node ${name}: ${report.message ?? 'it could not be programmed'}`)
  const silent = announcedBy(wanted.entry, counts).filter(({ address }) => !report.announced.includes(address))
  const [first] = silent
  if (first === undefined) return { ...active('Programmed', done), confirmedBy: nodeId }
  const addresses = silent.map(({ address }) => address).join(', ')
  // The node itself decides by its checks when it announces these. Until a member is up, there is nothing to wait for.
  if (silent.every(({ announce }) => announce !== null && awaitsMember(announce)))
    return {
      ...active('Withheld', `${addresses} is programmed; it is announced while a member is up`),
      confirmedBy: nodeId,
    }
  return pending('WaitingForAnnouncement', `Node ${name} does not announce ${addresses} yet`)
}

/** The generation that an entry was planned from. */
export const generationOf = (entry: NodeStateEntry): number => (entry.kind === 'load-balancer' ? entry.generation : 0)

const announcedBy = (entry: NodeStateEntry, counts: (announce: Announce) => boolean): readonly NodeVip[] =>
  entry.kind === 'load-balancer' ? entry.vips.filter(({ announce }) => announce !== null && counts(announce)) : []

/** Whether only the shard's master announces the VIP, by any announcer. */
export const followsShard = (announce: Announce | null): boolean =>
  announce !== null && shardOfAnnounce(announce) !== null

/** Whether every node announces the VIP to its routers. */
export const isRouted = (announce: Announce | null): boolean =>
  announce !== null && shardOfAnnounce(announce) === null && isAnnouncedByEveryNode({ announcer: announce.via })

const SEVERITY = { active: 0, pending: 1, error: 2 } as const

const active = (reason: string, message: string) => ({ provisioning: 'active' as const, reason, message })
const pending = (reason: string, message: string): ProvisioningStatus => ({
  provisioning: 'pending',
  reason,
  message,
  confirmedBy: null,
})
const failure = (reason: string, message: string): ProvisioningStatus => ({
  provisioning: 'error',
  reason,
  message,
  confirmedBy: null,
})
const UNPLANNED = pending('WaitingForPlan', 'The newest change was not planned yet')
