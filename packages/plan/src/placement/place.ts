import type { Node, Placement } from '@spout/model'
import type { Reason } from '../reason.ts'

/** The facts about a node that the planner depends on. */
export interface PlannedNode {
  readonly id: string
  readonly name: string
  readonly scheduling: Node['scheduling']
  /**
   * `disconnected`: silent, but not for long enough to move its VIPs. `lost`: silent for that long. `never`: never
   * seen.
   */
  readonly connection: 'connected' | 'disconnected' | 'lost' | 'never'
  /** Its drivers' features; empty before its first report. */
  readonly features: readonly string[]
  /** How many load balancers it owns. */
  readonly loadBalancers: number
}

export interface PlacementRequest {
  readonly groupName: string
  /** The nodes of the group. */
  readonly nodes: readonly PlannedNode[]
  /** Nodes that should keep it, the best one first. */
  readonly previousOwnerIds: readonly string[]
  /** Features that the carrying node must have. */
  readonly needs: readonly string[]
  /** The node that an operator moved it away from. Absent: none. */
  readonly leftNodeId?: string | undefined
  /** The previous placement; null without one. Its reason stands until nodes have reported their features. */
  readonly previous: Pick<Placement, 'ownerNodeId' | 'reason'> | null
}

export interface Owner {
  readonly nodeId: string | null
  readonly reason: Reason
  /** Whether no node has the needed features. Then no node gets an entry. */
  readonly refused: boolean
}

/**
 * Decides which node announces a load balancer: the current owner as long as it can, else the node with the fewest load
 * balancers.
 *
 * - A cordoned owner keeps it. A draining owner hands it over once another node can take it.
 * - A silent owner keeps it until the owner is `lost`, and longer if there is no other node: it may still forward, and
 *   has the VIPs when it returns.
 * - The node that an operator moved it away from hands it over as a draining one does, and gets it back only if no
 *   other node can carry it.
 */
export function placeOwner(request: PlacementRequest): Owner {
  const { nodes, groupName, needs, previous, leftNodeId } = request
  const connected = nodes.filter((node) => node.connection === 'connected')
  const missing = needs.filter((need) => !connected.some((node) => node.features.includes(need)))
  const allTold = connected.length > 0 && connected.every((node) => node.features.length > 0)
  if (nodes.length > 0 && !allTold && missing.length > 0 && previous?.reason.code === 'FeatureUnavailable')
    return { nodeId: null, refused: true, reason: previous.reason }
  const owners = request.previousOwnerIds.flatMap((id) => nodes.find((node) => node.id === id) ?? [])
  const stay = owners.find((node) => node.id !== leftNodeId && canStay(node, needs))
  if (stay !== undefined) return stay.id === previous?.ownerNodeId ? keptBecause(stay, previous.reason) : kept(stay)

  if (allTold && missing.length > 0 && !owners.some(mayOffer))
    return {
      nodeId: null,
      refused: true,
      reason: {
        code: 'FeatureUnavailable',
        message: `No node of group \`${groupName}\` offers ${missing.join(', ')}.`,
      },
    }

  const able = connected.filter((node) => node.scheduling === 'enabled' && offers(node, needs))
  const target =
    able.filter(({ id }) => id !== leftNodeId).reduce<PlannedNode | null>(lessLoaded, null) ??
    able.find((node) => node !== owners[0])
  if (target !== undefined) return placed(target)
  const owner = owners.find(mayOffer) ?? owners[0]
  const why =
    owner !== undefined && able.includes(owner) ? noOther(groupName) : whyNobody(groupName, nodes, connected, needs)
  if (owner === undefined) return { nodeId: null, refused: false, reason: why }
  if (owner.connection === 'connected')
    return {
      nodeId: owner.id,
      refused: false,
      reason: { code: 'NoOtherNode', message: `Node \`${owner.name}\` keeps it: ${lowerFirst(why.message)}` },
    }
  return { nodeId: owner.id, refused: false, reason: why }
}

const offers = (node: PlannedNode, needs: readonly string[]): boolean =>
  needs.every((need) => node.features.includes(need))

/**
 * Whether an owner may keep it. An owner that has not reported its features may: it carried the load balancer before.
 */
const canStay = (owner: PlannedNode, needs: readonly string[]): boolean =>
  (owner.connection === 'connected' || owner.connection === 'disconnected') &&
  owner.scheduling !== 'draining' &&
  (owner.features.length === 0 || offers(owner, needs))

const placed = (owner: PlannedNode): Owner => ({
  nodeId: owner.id,
  refused: false,
  reason: { code: 'Placed', message: `Node \`${owner.name}\` announces it.` },
})

/** Whether an owner may have the needed features: it has not reported its features yet, but has carried it before. */
const mayOffer = ({ connection, features }: PlannedNode): boolean =>
  (connection === 'connected' || connection === 'disconnected') && features.length === 0

function kept(owner: PlannedNode): Owner {
  if (owner.connection === 'connected') return placed(owner)
  const message = `Node \`${owner.name}\` does not report at the moment; it keeps forwarding what it has.`
  return { nodeId: owner.id, refused: false, reason: { code: 'WaitingForNode', message } }
}

/**
 * Keeps the reason `NoOtherNode` until the owner reports its features. Otherwise each restart would store two more
 * placements.
 */
function keptBecause(owner: PlannedNode, before: Reason): Owner {
  const isOpen = owner.connection === 'connected' && owner.features.length === 0
  return isOpen && before.code === 'NoOtherNode' ? { nodeId: owner.id, refused: false, reason: before } : kept(owner)
}

function lessLoaded(best: PlannedNode | null, node: PlannedNode): PlannedNode {
  if (best === null || node.loadBalancers < best.loadBalancers) return node
  if (node.loadBalancers > best.loadBalancers) return best
  return node.id < best.id ? node : best
}

function whyNobody(
  groupName: string,
  nodes: readonly PlannedNode[],
  connected: readonly PlannedNode[],
  needs: readonly string[],
): Reason {
  const group = `group \`${groupName}\``
  const message =
    nodes.length === 0
      ? `There is no node in ${group}.`
      : connected.length === 0
        ? `No node of ${group} is connected.`
        : connected.every((node) => node.scheduling !== 'enabled')
          ? `Every connected node of ${group} is cordoned or draining.`
          : `No schedulable node of ${group} offers all of ${needs.join(', ')}.`
  return { code: 'NoNodeAvailable', message }
}

/** The reason if the owner could carry it and should hand it over, but no other node can take it. */
const noOther = (groupName: string): Reason => ({
  code: 'NoNodeAvailable',
  message: `No other node of group \`${groupName}\` can carry it.`,
})

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
