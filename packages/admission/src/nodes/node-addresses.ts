import type { Network, Subnet } from '@spout/model'
import { formatIp, type Ip, parseIp } from '@spout/net'
import { allocateNodeAddress, nodeSpace } from '@spout/plan'
import type { Write } from '@spout/store'
import type { Claim } from '../claims/claims.ts'
import { type AdmissionContext, deleteOf, transact } from '../claims/context.ts'
import { systemAddress } from './addresses.ts'

/**
 * The missing addresses of these nodes in a subnet. If none is free, the node goes without: its domain leaves the
 * subnet out.
 */
export function nodeAddressWrites(
  context: AdmissionContext,
  claim: Claim,
  network: Pick<Network, 'id' | 'routes'>,
  subnet: Subnet,
  nodeIds: readonly string[],
): readonly Write[] {
  // There are no nodes behind a router.
  if (subnet.reach === 'tunnel') return []
  const space = nodeSpace(subnet)
  const routers = new Set(network.routes.map(({ via }) => via))
  return nodeIds.flatMap((nodeId) => {
    if (context.index.nodeAddress(nodeId, subnet.id) !== null) return []
    if (!claim.name(`node ${nodeId} in ${subnet.id}`)) return []
    const avoid = (ip: Ip): boolean => routers.has(formatIp(ip)) || context.index.isMember(network.id, ip)
    const ip = allocateNodeAddress(space, context.index.addressIndex(network.id), avoid, context.now())
    if (ip === null) return []
    claim.address(network.id, ip)
    const place = { networkId: network.id, subnetId: subnet.id }
    return [systemAddress(context, place, ip, { use: 'node', ownerId: nodeId }).write]
  })
}

/**
 * Takes the address of each subnet that members see whichever node carries the network (return path `snat`). It comes
 * from the nodes' range, and the network owns it. If a subnet has none free, members see each node's own address.
 */
export async function ensureSharedAddresses(context: AdmissionContext, networkId: string): Promise<void> {
  await transact(context, (claim) => {
    const network = context.view.get('network', networkId)?.value
    const subnets = network?.returnPath === 'snat' ? network.subnets : []
    const writes = subnets.flatMap((subnet) => nodeAddressWrites(context, claim, network!, subnet, [networkId]))
    return { writes, result: undefined }
  })
}

/** The gateways of a subnet, as addresses of the system. */
export function gatewayWrites(
  context: AdmissionContext,
  claim: Claim,
  network: Pick<Network, 'id'>,
  subnet: Subnet,
): readonly Write[] {
  if (subnet.gatewayIp === null) return []
  const ip = parseIp(subnet.gatewayIp)
  if (context.index.addressIn(network.id, subnet.gatewayIp) !== null) return []
  if (!claim.name(`gateway of ${subnet.id}`)) return []
  claim.address(network.id, ip)
  const place = { networkId: network.id, subnetId: subnet.id }
  return [systemAddress(context, place, ip, { use: 'gateway', ownerId: null }).write]
}

/** Limits the size of a commit. */
const MOST_NETWORKS_TOGETHER = 50

/**
 * Gives every node an address in every subnet, takes every gateway, and frees addresses of nodes that are gone. Writes
 * nothing if nothing is missing.
 */
export async function ensureNodeAddresses(context: AdmissionContext): Promise<void> {
  const networkIds = context.view.list('network').map(({ id }) => id)
  for (let at = 0; at < networkIds.length; at += MOST_NETWORKS_TOGETHER)
    await transact(context, (claim) => {
      const nodeIds = context.view.list('node').map(({ id }) => id)
      const writes = networkIds.slice(at, at + MOST_NETWORKS_TOGETHER).flatMap((id) => {
        const network = context.view.get('network', id)?.value
        return network === undefined ? [] : missingAndStale(context, claim, network, nodeIds)
      })
      return { writes, result: undefined }
    })
}

function missingAndStale(
  context: AdmissionContext,
  claim: Claim,
  network: Network,
  nodeIds: readonly string[],
): readonly Write[] {
  const present = new Set([...nodeIds, network.id])
  const stale = context.index.addressesOf(network.id).flatMap((address) => {
    if (address.use !== 'node' || present.has(address.ownerId ?? '')) return []
    const stored = context.view.get('address', address.id)
    return stored === null ? [] : [deleteOf('address', stored)]
  })
  const missing = network.subnets.flatMap((subnet) => [
    ...gatewayWrites(context, claim, network, subnet),
    ...nodeAddressWrites(context, claim, network, subnet, nodeIds),
  ])
  return [...stale, ...missing]
}
