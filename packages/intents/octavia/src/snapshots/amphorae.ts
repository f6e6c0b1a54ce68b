import type { ModelView } from '@spout/admission/contract'
import {
  fabricAddressOf,
  type LoadBalancer,
  type LoadBalancerStatus,
  loadBalancerKey,
  type Node,
  type NodeConfirmation,
  type NodeGroup,
  type StatusReader,
  type Vip,
} from '@spout/model'
import { combinedId } from '../terms/amphora-id.ts'
import { isNoop, zoneNameOf } from '../terms/facts.ts'

/**
 * An amphora: what Octavia calls the machine that carries a load balancer. Here one node carries many load balancers,
 * and is an amphora of each.
 */
export interface Amphora {
  readonly id: string
  readonly loadBalancer: LoadBalancer
  readonly nodeId: string
  readonly role: 'STANDALONE' | 'MASTER' | 'BACKUP'
  readonly status: 'ALLOCATED' | 'PENDING_CREATE' | 'ERROR'
  /** The node's address on the fabric; null while it is unknown. */
  readonly address: string | null
  /** Whether its role follows from VRRP on the fabric. */
  readonly vrrp: { readonly routerId: number | null } | null
  /** Only Octavia's noop driver has a port for each amphora. */
  readonly portId: string | null
  readonly vip: Vip | undefined
  readonly zone: string | null
  /** RFC 3339. */
  readonly createdAt: string
  readonly updatedAt: string
}

interface Sources {
  readonly view: Pick<ModelView, 'get'>
  readonly status: Pick<StatusReader, 'loadBalancer' | 'confirmedHash'>
}

/** The two nodes that noop mode pretends to have. A failover moves a load balancer from one to the other. */
export const NOOP_NODES = ['6e6f6f70-0000-4000-8000-000000000001', '6e6f6f70-0000-4000-8000-000000000002'] as const

export const noopNodeOf = ({ leftNodeId }: Pick<LoadBalancer, 'leftNodeId'>): string =>
  leftNodeId === NOOP_NODES[0] ? NOOP_NODES[1] : NOOP_NODES[0]

/**
 * The amphorae of a load balancer: one for each node in its status.
 * @param vip the first VIP, as clients see it
 */
export function amphoraeOf(loadBalancer: LoadBalancer, vip: Vip | undefined, sources: Sources): readonly Amphora[] {
  const { id, annotations, createdAt } = loadBalancer
  const common = { loadBalancer, vip, zone: zoneNameOf(annotations) }
  if (isNoop(loadBalancer)) {
    const nodeId = noopNodeOf(loadBalancer)
    const amphoraId = combinedId(id, nodeId)
    return [
      {
        ...common,
        ...{ id: amphoraId, nodeId, role: 'STANDALONE', status: 'ALLOCATED', address: null, vrrp: null },
        ...{ portId: amphoraId, createdAt, updatedAt: loadBalancer.updatedAt ?? createdAt },
      },
    ]
  }
  const { view } = sources
  const status = sources.status.loadBalancer(id)
  const placement = view.get('placement', id)?.value
  const shard = placement?.shard ?? null
  return status.nodes.flatMap((confirmation): Amphora[] => {
    const { nodeId } = confirmation
    const node = view.get('node', nodeId)?.value
    if (node === undefined) return []
    const group = view.get('nodeGroup', node.nodeGroupId)?.value
    const since = node.createdAt > createdAt ? node.createdAt : createdAt
    const changedAt = placement?.updatedAt ?? since
    return [
      {
        ...common,
        id: combinedId(id, nodeId),
        nodeId,
        role: roleOf(status, confirmation),
        status: statusOf(confirmation, sources.status.confirmedHash(nodeId, loadBalancerKey(id)) !== null),
        address: fabricAddressOf(node),
        vrrp: vrrpOf(group, shard?.number ?? null),
        portId: null,
        createdAt: since,
        updatedAt: changedAt > since ? changedAt : since,
      },
    ]
  })
}

/** The node that carries the load balancer is MASTER: its owner, or without an owner each node that announces it. */
function roleOf({ nodes, ownerNodeId }: LoadBalancerStatus, { nodeId, announced }: NodeConfirmation): Amphora['role'] {
  if (nodes.length === 1) return 'STANDALONE'
  const carries = ownerNodeId === null ? announced.length > 0 : ownerNodeId === nodeId
  return carries ? 'MASTER' : 'BACKUP'
}

/** @param hasVersion whether the node has any version of the load balancer, be it an older one */
function statusOf({ state, connection }: NodeConfirmation, hasVersion: boolean): Amphora['status'] {
  if (state === 'failed' || connection === 'disconnected') return 'ERROR'
  return hasVersion ? 'ALLOCATED' : 'PENDING_CREATE'
}

function vrrpOf(group: NodeGroup | undefined, shard: number | null): Amphora['vrrp'] {
  if (group === undefined || shard === null) return null
  return { routerId: group.vrrp.routerIds[shard - 1] ?? null }
}

/** The ids of load balancers that an amphora's id may belong to, one for each node (see `combinedId`). */
export const loadBalancerIdsOf = (amphoraId: string, nodes: readonly Pick<Node, 'id'>[]): readonly string[] =>
  [...nodes.map(({ id }) => id), ...NOOP_NODES].map((nodeId) => combinedId(amphoraId, nodeId))
