import type { VipWish } from '@spout/admission/contract'
import type { Address, AddressPool, Network, Subnet } from '@spout/model'
import { cidrContains, parseCidr, parseIp } from '@spout/net'
import type { VipAsk } from './resources/load-balancer.ts'
import { outsideSubnet, subresourceNotFound, validationFailure } from './wire/fault.ts'

/**
 * The networks, subnets and ports that a project can name; others do not exist for it. A public address pool is found
 * by its id as a network and as that network's only subnet, as the network facade shows it.
 */
export interface NetworkDirectory {
  readonly pool: (id: string) => AddressPool | null
  readonly network: (id: string) => Network | null
  readonly subnet: (id: string) => { readonly network: Network; readonly subnet: Subnet } | null
  readonly port: (id: string) => Address | null
}

/** A VIP's source, and the subnet and prefix (or address) that it will come from. */
export interface FoundVip {
  readonly wish: VipWish
  readonly networkId: string
  readonly subnetId: string
  readonly range: string
}

/** @throws OctaviaFault 400 for what does not exist or does not go together */
export function findVip(ask: VipAsk, directory: NetworkDirectory): FoundVip {
  if (ask.portId !== null) return fromPort(ask.portId, ask, directory)
  if (ask.networkId !== null) return fromNetwork(ask.networkId, ask, directory)
  if (ask.subnetId !== null) return fromSubnet(ask.subnetId, ask, directory)
  throw validationFailure('VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.')
}

/**
 * The primary VIP and the additional ones: all of one network, one address per subnet.
 * @throws OctaviaFault 400
 */
export function findVips(
  primary: VipAsk,
  additional: readonly VipAsk[],
  directory: NetworkDirectory,
): readonly FoundVip[] {
  const found = [primary, ...additional].map((ask) => findVip(ask, directory))
  if (new Set(found.map(({ subnetId }) => subnetId)).size < found.length)
    throw validationFailure('Duplicate VIP subnet(s) specified. Only one IP can be bound per subnet.')
  if (new Set(found.map(({ networkId }) => networkId)).size > 1)
    throw validationFailure('All VIP subnets must belong to the same network.')
  return found
}

function fromPort(portId: string, ask: VipAsk, directory: NetworkDirectory): FoundVip {
  const port = directory.port(portId)
  if (port === null) throw subresourceNotFound('Port', portId)
  if (port.ownerId !== null)
    // The trailing space is Octavia's.
    throw validationFailure(`Port ${portId} is already used by device ${port.ownerId} `)
  const subnetId = port.subnetId ?? port.holderId
  if (ask.subnetId !== null && ask.subnetId !== subnetId) {
    if (directory.subnet(ask.subnetId) === null && directory.pool(ask.subnetId) === null)
      throw subresourceNotFound('Subnet', ask.subnetId)
    throw validationFailure('No VIP address found on the specified VIP port within the specified subnet.')
  }
  if (ask.address !== null && ask.address !== port.address)
    throw validationFailure('Specified VIP address not found on the specified VIP port.')
  return { wish: { from: 'port', portId }, networkId: port.holderId, subnetId, range: port.address }
}

function fromNetwork(networkId: string, ask: VipAsk, directory: NetworkDirectory): FoundVip {
  const pool = directory.pool(networkId)
  if (pool !== null) {
    if (ask.subnetId !== null && ask.subnetId !== pool.id) throw subresourceNotFound('Subnet', ask.subnetId)
    return ofPool(pool, ask.address)
  }
  const network = directory.network(networkId)
  if (network === null) throw subresourceNotFound('Network', networkId)
  const subnet =
    ask.subnetId === null
      ? chosenSubnet(network, ask.address)
      : network.subnets.find((candidate) => candidate.id === ask.subnetId)
  if (subnet === undefined) throw subresourceNotFound('Subnet', ask.subnetId ?? '')
  return ofSubnet(network, subnet, ask.address)
}

/** The subnet that has the address; without one the first, IPv4 preferred. */
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

function fromSubnet(subnetId: string, ask: VipAsk, directory: NetworkDirectory): FoundVip {
  const pool = directory.pool(subnetId)
  if (pool !== null) return ofPool(pool, ask.address)
  const found = directory.subnet(subnetId)
  if (found === null) throw subresourceNotFound('Subnet', subnetId)
  return ofSubnet(found.network, found.subnet, ask.address)
}

const ofPool = (pool: AddressPool, address: string | null): FoundVip => ({
  wish: { from: 'pool', poolId: pool.id, address },
  networkId: pool.id,
  subnetId: pool.id,
  range: inRange(pool.cidr, address),
})

const ofSubnet = (network: Network, subnet: Subnet, address: string | null): FoundVip => ({
  wish: { from: 'subnet', networkId: network.id, subnetId: subnet.id, address },
  networkId: network.id,
  subnetId: subnet.id,
  range: inRange(subnet.cidr, address),
})

function inRange(cidr: string, address: string | null): string {
  if (address === null) return cidr
  if (!cidrContains(parseCidr(cidr), parseIp(address))) throw outsideSubnet(address)
  return address
}
