import type { VipRequest } from '@spout/admission/contract'
import type { Address, AddressPool, Network, Subnet } from '@spout/model'
import { cidrContains, parseCidr, parseIp } from '@spout/net'
import type { VipSpec } from '../resources/load-balancer.ts'
import { outsideSubnet, subresourceNotFound, validationFailure } from '../wire/fault.ts'

/**
 * The networks, subnets and ports that a project can name; others do not exist for it. A public address pool is both a
 * network and that network's only subnet, under the pool's id, as in the network API.
 */
export interface NetworkDirectory {
  readonly pool: (id: string) => AddressPool | null
  readonly network: (id: string) => Network | null
  readonly subnet: (id: string) => { readonly network: Network; readonly subnet: Subnet } | null
  readonly port: (id: string) => Address | null
}

/** A VIP's source, and the subnet and prefix (or address) that it will come from. */
export interface FoundVip {
  readonly request: VipRequest
  readonly networkId: string
  readonly subnetId: string
  readonly range: string
}

/** @throws OctaviaFault 400 for parts that do not exist or contradict each other */
export function findVip(spec: VipSpec, directory: NetworkDirectory): FoundVip {
  if (spec.portId !== null) return fromPort(spec.portId, spec, directory)
  if (spec.networkId !== null) return fromNetwork(spec.networkId, spec, directory)
  if (spec.subnetId !== null) return fromSubnet(spec.subnetId, spec, directory)
  throw validationFailure('VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.')
}

/**
 * The sources of the primary VIP and the additional ones. All are of one network, with one address per subnet.
 * @throws OctaviaFault 400
 */
export function findVips(
  primary: VipSpec,
  additional: readonly VipSpec[],
  directory: NetworkDirectory,
): readonly FoundVip[] {
  const found = [primary, ...additional].map((spec) => findVip(spec, directory))
  if (new Set(found.map(({ subnetId }) => subnetId)).size < found.length)
    throw validationFailure('Duplicate VIP subnet(s) specified. Only one IP can be bound per subnet.')
  if (new Set(found.map(({ networkId }) => networkId)).size > 1)
    throw validationFailure('All VIP subnets must belong to the same network.')
  return found
}

function fromPort(portId: string, spec: VipSpec, directory: NetworkDirectory): FoundVip {
  const port = directory.port(portId)
  if (port === null) throw subresourceNotFound('Port', portId)
  if (port.ownerId !== null)
    // The trailing space is in Octavia's message, too.
    throw validationFailure(`Port ${portId} is already used by device ${port.ownerId} `)
  const subnetId = port.subnetId ?? port.holderId
  if (spec.subnetId !== null && spec.subnetId !== subnetId) {
    if (directory.subnet(spec.subnetId) === null && directory.pool(spec.subnetId) === null)
      throw subresourceNotFound('Subnet', spec.subnetId)
    throw validationFailure('No VIP address found on the specified VIP port within the specified subnet.')
  }
  if (spec.address !== null && spec.address !== port.address)
    throw validationFailure('Specified VIP address not found on the specified VIP port.')
  return { request: { from: 'port', portId }, networkId: port.holderId, subnetId, range: port.address }
}

function fromNetwork(networkId: string, spec: VipSpec, directory: NetworkDirectory): FoundVip {
  const pool = directory.pool(networkId)
  if (pool !== null) {
    if (spec.subnetId !== null && spec.subnetId !== pool.id) throw subresourceNotFound('Subnet', spec.subnetId)
    return ofPool(pool, spec.address)
  }
  const network = directory.network(networkId)
  if (network === null) throw subresourceNotFound('Network', networkId)
  const subnet =
    spec.subnetId === null
      ? chosenSubnet(network, spec.address)
      : network.subnets.find((candidate) => candidate.id === spec.subnetId)
  if (subnet === undefined) throw subresourceNotFound('Subnet', spec.subnetId ?? '')
  return ofSubnet(network, subnet, spec.address)
}

/** The subnet that contains the address. Without an address: the first one, preferably of IPv4. */
function chosenSubnet(network: Network, address: string | null): Subnet {
  if (address !== null) {
    const ip = parseIp(address)
    const holder = network.subnets.find(({ cidr }) => cidrContains(parseCidr(cidr), ip))
    if (holder === undefined)
      throw validationFailure('Supplied network does not contain a subnet for VIP address specified.')
    return holder
  }
  const first = network.subnets.find(({ cidr }) => !cidr.includes(':')) ?? network.subnets[0]
  if (first === undefined) throw validationFailure('Supplied network does not contain a subnet.')
  return first
}

function fromSubnet(subnetId: string, spec: VipSpec, directory: NetworkDirectory): FoundVip {
  const pool = directory.pool(subnetId)
  if (pool !== null) return ofPool(pool, spec.address)
  const found = directory.subnet(subnetId)
  if (found === null) throw subresourceNotFound('Subnet', subnetId)
  return ofSubnet(found.network, found.subnet, spec.address)
}

const ofPool = (pool: AddressPool, address: string | null): FoundVip => ({
  request: { from: 'pool', poolId: pool.id, address },
  networkId: pool.id,
  subnetId: pool.id,
  range: inRange(pool.cidr, address),
})

const ofSubnet = (network: Network, subnet: Subnet, address: string | null): FoundVip => ({
  request: { from: 'subnet', networkId: network.id, subnetId: subnet.id, address },
  networkId: network.id,
  subnetId: subnet.id,
  range: inRange(subnet.cidr, address),
})

function inRange(cidr: string, address: string | null): string {
  if (address === null) return cidr
  if (!cidrContains(parseCidr(cidr), parseIp(address))) throw outsideSubnet(address)
  return address
}
