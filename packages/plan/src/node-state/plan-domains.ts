import {
  type Announce,
  type AnnouncerName,
  announcerNamed,
  type DomainEntry,
  type Network,
  type Node,
} from '@spout/model'
import { announceInside } from '../announcers/registry.ts'
import { planDomain } from './plan-domain.ts'

/**
 * Everything that the plan of a network's domains reads of the load balancers in it. Whoever plans takes them as this value,
 * and plans again when the value differs: a field that is added here is compared without further work.
 */
export interface NetworkUse {
  /** Groups that carry load balancers of it, sorted: their nodes have the domain. */
  readonly groupIds: readonly string[]
  /**
   * The holder of addresses that nodes share: a shard's master, or with return path `gateway` one node; null: nobody.
   */
  readonly holder: AddressHolder | null
  /** Whether clients inside the network use a proxy. */
  readonly hasInnerProxy: boolean
  /** Whether they leave the kernel nothing to track. */
  readonly untracked: boolean
}

export type AddressHolder =
  /** `PlacementIndex.gatewayShard`. */
  | ({ readonly groupId: string; readonly number: number } & HeldBy)
  /** The first of `PlacementIndex.gatewayOwners`. */
  | ({ readonly nodeId: string } & HeldBy)

interface HeldBy {
  /** The announcer of its group. Absent where there is no group. */
  readonly announcer?: AnnouncerName | undefined
}

/** A node of one of `NetworkUse.groupIds`. */
export interface CarryingNode extends Pick<Node, 'id' | 'nodeGroupId'> {
  /** Its own addresses in the network, by subnet id. */
  readonly addresses: ReadonlyMap<string, string>
}

/**
 * A tenant network as each of these nodes sees it, by node id.
 * @param sharedAddresses what members see whichever node carries the network, by subnet id; read where `sharesAddresses`
 */
export function planDomains(
  network: Network,
  use: NetworkUse,
  nodes: readonly CarryingNode[],
  sharedAddresses: ReadonlyMap<string, string>,
): ReadonlyMap<string, DomainEntry> {
  const domainUse = {
    sharedAddresses,
    // One object for the entries of all nodes.
    ...(use.hasInnerProxy || repliesMoveFirst(network, use) ? { allAddresses: addressesOf(nodes) } : {}),
    untracked: use.untracked,
  }
  return new Map(
    nodes.map((node) => [node.id, planDomain(network, node.addresses, gatewayOn(node, use.holder), domainUse)]),
  )
}

/** Whether members see one address whichever node carries the network: where it is in a shard, one node at a time does. */
export const sharesAddresses = ({ returnPath }: Pick<Network, 'returnPath'>, { holder }: NetworkUse): boolean =>
  returnPath === 'snat' && holder !== null && 'groupId' in holder

/**
 * Whether replies of tracked flows move from node to node with a shard, and requests later, when routers know. Elsewhere a
 * node that is added or removed changes no domain of the others.
 */
const repliesMoveFirst = ({ returnPath }: Pick<Network, 'returnPath'>, { holder, untracked }: NetworkUse): boolean =>
  returnPath !== 'dsr' &&
  !untracked &&
  holder !== null &&
  'groupId' in holder &&
  holder.announcer !== undefined &&
  announcerNamed(holder.announcer).announcedBy === 'every-node'

function gatewayOn({ id, nodeGroupId }: CarryingNode, holder: AddressHolder | null): Announce | null {
  if (holder === null) return null
  if ('groupId' in holder)
    return holder.groupId === nodeGroupId ? announceInside(holder.announcer, holder.number) : null
  return holder.nodeId === id ? announceInside(holder.announcer, null) : null
}

const addressesOf = (nodes: readonly CarryingNode[]): DomainEntry['nodeAddresses'] =>
  Object.fromEntries(nodes.map(({ id, addresses }) => [id, [...addresses.values()]]))
