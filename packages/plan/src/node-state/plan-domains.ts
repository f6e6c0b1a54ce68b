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
import { type HostingNode, planHosts } from './plan-hosts.ts'

/**
 * Everything about its load balancers that the plan of a network's domains depends on. When the value changes, the
 * domains are planned again. New fields are compared without further code.
 */
export interface NetworkUse {
  /** Ids of the groups that carry load balancers of the network, sorted. Their nodes have the domain. */
  readonly groupIds: readonly string[]
  /**
   * The holder of the addresses that nodes share: a shard's master, or with return path `gateway` one node. Null:
   * nobody.
   */
  readonly holder: AddressHolder | null
  /** Whether a VIP of the network itself leads to a proxy. */
  readonly hasInnerProxy: boolean
  /** Whether no listener needs connection tracking. */
  readonly untracked: boolean
  /** The nodes that carry a network of return path `node`. Absent with the others. */
  readonly hosts?: readonly HostingNode[]
}

export type AddressHolder =
  /** `PlacementIndex.gatewayShard`. */
  | ({ readonly groupId: string; readonly number: number } & HeldBy)
  /** The first of `PlacementIndex.gatewayOwners`. */
  | ({ readonly nodeId: string } & HeldBy)

interface HeldBy {
  /** The announcer of its group. Absent: there is no group. */
  readonly announcer?: AnnouncerName | undefined
}

/** A node of one of `NetworkUse.groupIds`. */
export interface CarryingNode extends Pick<Node, 'id' | 'nodeGroupId'> {
  /** Its own addresses in the network, by subnet id. */
  readonly addresses: ReadonlyMap<string, string>
}

/**
 * Plans the domain entries of a tenant network, by node id.
 * @param sharedAddresses by subnet id, the address that members see whichever node carries the network. Used only if
 * `sharesAddresses`
 */
export function planDomains(
  network: Network,
  use: NetworkUse,
  nodes: readonly CarryingNode[],
  sharedAddresses: ReadonlyMap<string, string>,
): ReadonlyMap<string, DomainEntry> {
  const domainUse = {
    sharedAddresses,
    // The entries of all nodes share one object.
    ...(use.hasInnerProxy || repliesMoveFirst(network, use) ? { allAddresses: addressesOf(nodes) } : {}),
    untracked: use.untracked,
  }
  const hosts = use.hosts === undefined ? null : planHosts(network, use.hosts)
  return new Map(
    nodes.map((node) => {
      const gateway = gatewayOn(node, use.holder)
      return [node.id, planDomain(network, node.addresses, gateway, { ...domainUse, hosts: hosts?.get(node.id) })]
    }),
  )
}

/**
 * Whether members see one address whichever node carries the network. That takes a shard, so that one node at a time
 * does.
 */
export const sharesAddresses = ({ returnPath }: Pick<Network, 'returnPath'>, { holder }: NetworkUse): boolean =>
  returnPath === 'snat' && holder !== null && 'groupId' in holder

/**
 * Whether replies of tracked flows move to another node at once with the shard, but requests only later, when routers
 * know. If not, the entries need no addresses of other nodes, and adding or removing a node does not change them.
 */
const repliesMoveFirst = ({ returnPath }: Pick<Network, 'returnPath'>, { holder, untracked }: NetworkUse): boolean =>
  returnPath !== 'dsr' &&
  returnPath !== 'node' &&
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
