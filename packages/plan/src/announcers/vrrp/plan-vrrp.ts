import type { NodeGroup, PlannedMove, VrrpSettings, VrrpShard } from '@spout/model'
import type { Reason } from '../../reason.ts'
import { familyOf, type GroupNode, hasSuccessor } from '../group-node.ts'
import { VRRP_TIMING } from './timing.ts'

/** RFC 5798 section 5.2.4: 255 is for the owner of the address, 0 announces the end of mastership. */
const HIGHEST_PRIORITY = 254
/**
 * How much lower the priority of nodes that are not ready, cordoned or draining is. A lower priority makes them claim a
 * shard later (skew, RFC 5798 section 6.1).
 */
const RESERVE_STEP = 100

/** The VRRP settings of a node, or why it takes no part in the shards. */
export type VrrpPart = { readonly settings: VrrpSettings } | { readonly problem: Reason }

/**
 * Plans every node's part in the shards of a group. A node that cannot be a peer of the others takes no part: it would
 * get no adverts, and claim addresses that others have.
 * @param nodes the existing nodes of the group, silent ones too, by id
 * @param heldBack ids of draining nodes that keep their shards for now
 * @param handOver the move of the group's `rebalance` that is due now
 * @param unready ids of enabled nodes that take over only if no other enabled node can
 */
export function planVrrp(
  group: NodeGroup,
  nodes: readonly GroupNode[],
  heldBack: ReadonlySet<string>,
  handOver: PlannedMove | null,
  unready: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, VrrpPart> {
  const family = commonFamily(nodes)
  const parts = new Map<string, VrrpPart>()
  const members: (GroupNode & { readonly fabricAddress: string })[] = []
  for (const node of nodes) {
    const { fabricAddress } = node
    const problem = whyNot(node, family, members)
    if (problem !== null || fabricAddress === null) parts.set(node.id, { problem: problem ?? UNKNOWN_ADDRESS })
    else members.push({ ...node, fabricAddress })
  }
  const homes = new Map(group.rebalance?.moves.map(({ shard, toNodeId }) => [shard, toNodeId]))
  const priorities = shardPriorities(members, group.vrrp.routerIds.length, homes, unready)
  for (const node of members) {
    const shards = group.vrrp.routerIds.flatMap((routerId, index): VrrpShard[] => {
      const priority = priorities[index]?.get(node.id)
      if (priority === undefined) return []
      const isHandedOver = handOver?.shard === index + 1 && handOver.fromNodeId === node.id
      return [
        { number: index + 1, routerId, priority, ...(isHandedOver && { handOver: group.rebalance?.askedAt ?? '' }) },
      ]
    })
    parts.set(node.id, {
      settings: {
        source: node.fabricAddress,
        peers: members.filter((other) => other !== node).map((other) => other.fabricAddress),
        ...VRRP_TIMING[group.vrrp.profile],
        shards,
        yield: node.scheduling === 'draining' && !heldBack.has(node.id) && hasSuccessor(node, members),
      },
    })
  }
  return parts
}

const UNKNOWN_ADDRESS: Reason = {
  code: 'NoFabricAddress',
  message: 'Its address on the fabric is not known yet: it takes no part in the shards.',
}

function whyNot(node: GroupNode, family: 4 | 6, members: readonly GroupNode[]): Reason | null {
  const { fabricAddress } = node
  if (fabricAddress === null) return UNKNOWN_ADDRESS
  if (familyOf(fabricAddress) !== family)
    return {
      code: 'FabricFamilyDiffers',
      message: `Its fabric address ${fabricAddress} is not IPv${family} like those of the group's other nodes: it takes no part in the shards.`,
    }
  const other = members.find((member) => member.fabricAddress === fabricAddress)
  if (other !== undefined)
    return {
      code: 'FabricAddressTaken',
      message: `Its fabric address ${fabricAddress} is that of node \`${other.name}\` too: it takes no part in the shards.`,
    }
  if (members.length === HIGHEST_PRIORITY)
    return { code: 'GroupTooLarge', message: `A shard has room for ${HIGHEST_PRIORITY} nodes.` }
  return null
}

/** The address family of the majority of the nodes; IPv4 in a tie. */
function commonFamily(nodes: readonly GroupNode[]): 4 | 6 {
  const known = nodes.flatMap(({ fabricAddress }) => fabricAddress ?? [])
  const sixes = known.filter((address) => familyOf(address) === 6).length
  return sixes > known.length - sixes ? 6 : 4
}

/**
 * Priorities by node id, one map per shard. The enabled nodes take turns as first owner, and also as second, so that a
 * dead node's shards are spread over the others. Enabled nodes that are not ready come next, then cordoned nodes, then
 * draining ones.
 * @param homes by shard number: the enabled node that comes first, whatever its turn
 */
export function shardPriorities(
  nodes: readonly Pick<GroupNode, 'id' | 'scheduling'>[],
  shards: number,
  homes: ReadonlyMap<number, string> = new Map(),
  unready: ReadonlySet<string> = new Set(),
): readonly ReadonlyMap<string, number>[] {
  const of = (scheduling: GroupNode['scheduling']) => nodes.filter((node) => node.scheduling === scheduling)
  const first = of('enabled').filter(({ id }) => !unready.has(id))
  const reserve = [...of('enabled').filter(({ id }) => unready.has(id)), ...of('cordoned'), ...of('draining')]
  // If there is no other node, the reserve need not wait. And a larger group has no priorities to spare for the step.
  const step = first.length === 0 || nodes.length > HIGHEST_PRIORITY - RESERVE_STEP ? 0 : RESERVE_STEP
  return Array.from({ length: shards }, (_, shard) => {
    const turns = takeTurns(first, shard)
    const home = turns.find(({ id }) => id === homes.get(shard + 1))
    const order = home === undefined ? turns : [home, ...turns.filter((node) => node !== home)]
    return new Map([
      ...order.map((node, at): [string, number] => [node.id, HIGHEST_PRIORITY - at]),
      ...reserve.map((node, at): [string, number] => [node.id, HIGHEST_PRIORITY - step - order.length - at]),
    ])
  })
}

function takeTurns<T>(nodes: readonly T[], shard: number): readonly T[] {
  if (nodes.length === 0) return []
  const [leader, ...others] = rotate(nodes, shard)
  const round = rotate(others, Math.floor(shard / nodes.length))
  return leader === undefined ? round : [leader, ...round]
}

const rotate = <T>(list: readonly T[], by: number): readonly T[] =>
  list.length === 0 ? list : [...list.slice(by % list.length), ...list.slice(0, by % list.length)]
