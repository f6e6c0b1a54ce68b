import { isAnnouncedByEveryNode } from '@spout/model'
import { whyNotPlaced } from '@spout/plan'
import type { NativeContext } from '../operations/context.ts'
import { announcersOf, type KnownVip, wayOf } from './known-vip.ts'

/**
 * Every node's part in announcing an address, and what decides which node does.
 * @param operator also show what only operators may see: sessions with routers, and nodes' problems
 */
export function explainVip(context: NativeContext, known: KnownVip, operator: boolean) {
  const { view, status, ownership } = context
  const { loadBalancer, group } = known
  const { announcer, shard } = wayOf(context, known)
  const state = status.loadBalancer(loadBalancer.id)
  const placement = view.get('placement', loadBalancer.id)?.value
  const nameOf = (id: string): string => view.get('node', id)?.value.name ?? id
  const announcers = announcersOf(context, known)
  const told = shard === null ? null : ownership.shard(shard.nodeGroupId, shard.number)
  return {
    loadBalancer: {
      id: loadBalancer.id,
      name: loadBalancer.name,
      provisioning: state.provisioning,
      reason: state.reason,
      message: state.message,
    },
    decision: placement?.reason ?? whyNotPlaced(loadBalancer),
    routerId: shard === null ? null : (group?.vrrp.routerIds[shard.number - 1] ?? null),
    profile: shard === null ? null : (group?.vrrp.profile ?? null),
    policy: isAnnouncedByEveryNode({ announcer }) ? (group?.bgp?.policy ?? null) : null,
    shardState: told && {
      state: told.state,
      master: told.ownerNodeId === null ? null : nameOf(told.ownerNodeId),
      nodes: told.nodes.map(({ nodeId, state: role, since }) => ({ node: nameOf(nodeId), state: role, since })),
    },
    nodes: state.nodes.map((node) => ({
      node: node.nodeName,
      connection: node.connection,
      scheduling: view.get('node', node.nodeId)?.value.scheduling ?? null,
      entry: node.state,
      message: node.message,
      announces: announcers.includes(node.nodeName),
      ...(operator && operatorsPart(context, node.nodeId)),
    })),
  }
}

const operatorsPart = ({ status, view }: NativeContext, nodeId: string) => {
  const { problems, bgpSessions } = status.node(nodeId)
  return {
    problems,
    sessions: bgpSessions.map(({ peerId, state, lastError }) => ({
      peer: view.get('bgpPeer', peerId)?.value.name ?? peerId,
      state,
      lastError,
    })),
  }
}
