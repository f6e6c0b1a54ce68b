import { type Node, SpoutError } from '@spout/model'
import { type Cidr, cidrContains, type Ip, parseCidr, parseIp } from '@spout/net'

/** How much of an address tells the network of a node where no network of the fabric is configured. */
const NETWORK_BITS = { 4: 24, 6: 64 } as const

/**
 * Refuses an address that a node's agent reports as its own but that may be somebody else's. A compromised node could
 * otherwise report the address of a tenant's member, and the tenant could no longer name it.
 *
 * If networks of the fabric are configured, the address must be in one of them. If none is, a node's first address is
 * accepted, because the node was enrolled just now. A later one must be in a network in which a node has an address.
 * @throws SpoutError AddressForbidden, with what to set if it is the node's address
 */
export function refuseForeignAddress(
  { fabric, nodes }: { readonly fabric: readonly Cidr[]; readonly nodes: readonly Node[] },
  node: Pick<Node, 'seenFabricAddress'>,
  address: string,
): void {
  const isFirst = fabric.length === 0 && node.seenFabricAddress === null
  const reason = isFirst ? null : whyNotOnFabric({ fabric, nodes }, parseIp(address))
  if (reason !== null) throw new SpoutError('AddressForbidden', { field: 'fabricAddress', address, reason })
}

/** Why the address is in no network of the nodes, as far as is known; null if it is in one. */
export const whyNotOnFabric = (
  { fabric, nodes }: { readonly fabric: readonly Cidr[]; readonly nodes: readonly Node[] },
  ip: Ip,
): string | null => (fabric.length > 0 ? notConfigured(fabric, ip) : notKnown(nodes, ip))

const notConfigured = (fabric: readonly Cidr[], ip: Ip): string | null =>
  fabric.some((cidr) => cidrContains(cidr, ip)) ? null : 'it is in none of network.fabricCidrs'

function notKnown(nodes: readonly Node[], ip: Ip): string | null {
  const known = nodes.flatMap(({ fabricAddress, seenFabricAddress: seen }) => [fabricAddress, seen])
  if (known.some((address) => address !== null && cidrContains(networkOf(address), ip))) return null
  return "no node has an address in its network: set network.fabricCidrs, or the node's fabricAddress"
}

const networkOf = (address: string): Cidr => parseCidr(`${address}/${NETWORK_BITS[parseIp(address).version]}`, 'clear')
