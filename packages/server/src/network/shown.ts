import { createHash } from 'node:crypto'
import type { ModelView } from '@spout/admission/contract'
import type { Address, AddressPool, Network, SecurityGroup, SecurityRule, Subnet } from '@spout/model'
import { cidrToRange, formatIp, formatMac, type Mac, parseCidr } from '@spout/net'
import type { Shown } from './listing.ts'

/** Neutron's times have no fraction. */
const time = (text: string): string => text.replace(/\.\d{3}Z$/, 'Z')

interface Described {
  readonly name: string
  readonly description: string
  /** Only addresses have tags. */
  readonly tags?: readonly string[]
  readonly createdAt: string
  readonly updatedAt: string | null
}

const common = (object: Described) => ({
  name: object.name,
  description: object.description,
  tags: object.tags ?? [],
  revision_number: 1,
  created_at: time(object.createdAt),
  updated_at: time(object.updatedAt ?? object.createdAt),
})

const owner = (projectId: string | null) => ({ project_id: projectId ?? '', tenant_id: projectId ?? '' })

const networkConstants = {
  admin_state_up: true,
  status: 'ACTIVE',
  mtu: 1500,
  port_security_enabled: false,
  availability_zone_hints: [],
  availability_zones: [],
  ipv4_address_scope: null,
  ipv6_address_scope: null,
  qos_policy_id: null,
  is_default: false,
} as const

/** @param withSegment administrators see a network's segment */
export const shownNetwork = (network: Network, withSegment: boolean): Shown => ({
  id: network.id,
  ...common(network),
  ...owner(network.projectId),
  ...networkConstants,
  shared: false,
  'router:external': false,
  subnets: network.subnets.map((subnet) => subnet.id),
  ...(withSegment && {
    'provider:network_type': network.segment.vlan === null ? 'flat' : 'vlan',
    'provider:physical_network': network.segment.physicalNetwork,
    'provider:segmentation_id': network.segment.vlan,
  }),
})

/** An address pool is an external, shared network; its one subnet has the same id. */
export const shownPoolNetwork = (pool: AddressPool): Shown => ({
  id: pool.id,
  ...common(pool),
  ...owner(null),
  ...networkConstants,
  shared: true,
  'router:external': true,
  subnets: [pool.id],
})

const subnetConstants = {
  enable_dhcp: false,
  dns_nameservers: [],
  host_routes: [],
  service_types: [],
  subnetpool_id: null,
  segment_id: null,
  ipv6_address_mode: null,
  ipv6_ra_mode: null,
} as const

export const shownSubnet = (network: Network, subnet: Subnet): Shown => ({
  id: subnet.id,
  ...common(subnet),
  ...owner(network.projectId),
  ...subnetConstants,
  network_id: network.id,
  ip_version: parseCidr(subnet.cidr).version,
  cidr: subnet.cidr,
  gateway_ip: subnet.gatewayIp,
  allocation_pools: [usableRange(subnet.cidr)],
})

export const shownPoolSubnet = (pool: AddressPool): Shown => ({
  id: pool.id,
  ...common(pool),
  ...owner(null),
  ...subnetConstants,
  network_id: pool.id,
  ip_version: parseCidr(pool.cidr).version,
  cidr: pool.cidr,
  gateway_ip: pool.gatewayIp,
  allocation_pools: pool.ranges.map(({ first, last }) => ({ start: first, end: last })),
})

const OWNERS: Readonly<Record<Address['use'], string>> = {
  vip: 'Octavia',
  floating: 'network:floatingip',
  port: '',
  node: 'network:distributed',
  gateway: 'network:router_interface',
}

/** An address as a port. Octavia's convention for the device of a VIP is `lb-` and the load balancer's id. */
export const shownPort = (view: ModelView, address: Address): Shown => ({
  id: address.portId,
  ...common(address),
  ...owner(address.projectId),
  network_id: address.holderId,
  fixed_ips: [{ subnet_id: address.subnetId ?? address.holderId, ip_address: address.address }],
  mac_address: macOf(address.portId),
  admin_state_up: true,
  status: address.ownerId === null && address.projectId !== null ? 'DOWN' : 'ACTIVE',
  device_owner: OWNERS[address.use],
  device_id: address.ownerId === null ? '' : address.use === 'vip' ? `lb-${address.ownerId}` : address.ownerId,
  security_groups: groupsOf(view, address),
  port_security_enabled: false,
  allowed_address_pairs: [],
  extra_dhcp_opts: [],
  dns_name: '',
  dns_assignment: [],
  qos_policy_id: null,
  'binding:vnic_type': 'normal',
})

/** The security groups of a VIP's load balancer. Other ports have none. */
const groupsOf = (view: ModelView, { use, ownerId }: Address): readonly string[] =>
  use === 'vip' && ownerId !== null ? (view.get('loadBalancer', ownerId)?.value.securityGroupIds ?? []) : []

export const shownSecurityGroup = (group: SecurityGroup): Shown => ({
  id: group.id,
  ...common(group),
  ...owner(group.projectId),
  stateful: true,
  shared: false,
  security_group_rules: group.rules.map((rule) => shownSecurityRule(group, rule)),
})

export const shownSecurityRule = (group: SecurityGroup, rule: SecurityRule): Shown => ({
  id: rule.id,
  ...owner(group.projectId),
  security_group_id: group.id,
  direction: 'ingress',
  ethertype: `IPv${rule.ipVersion}`,
  protocol: rule.transport,
  port_range_min: rule.ports?.first ?? null,
  port_range_max: rule.ports?.last ?? null,
  remote_ip_prefix: rule.cidr,
  normalized_cidr: rule.cidr,
  remote_group_id: null,
  remote_address_group_id: null,
  description: rule.description,
  belongs_to_default_sg: false,
  tags: [],
  revision_number: 0,
  created_at: time(rule.createdAt),
  updated_at: time(rule.createdAt),
})

export function shownFloatingIp(view: ModelView, floating: Address): Shown {
  const target = boundPort(view, floating)
  return {
    id: floating.portId,
    ...common(floating),
    ...owner(floating.projectId),
    floating_network_id: floating.holderId,
    floating_ip_address: floating.address,
    port_id: target?.portId ?? null,
    fixed_ip_address: target?.address ?? null,
    router_id: null,
    status: target === null ? 'DOWN' : 'ACTIVE',
    port_details: null,
    port_forwardings: [],
    dns_domain: '',
    dns_name: '',
    qos_policy_id: null,
  }
}

/** The port that a floating IP is bound to. */
const boundPort = (view: ModelView, floating: Address): Address | null =>
  floating.ownerId === null ? null : view.addressByPort(floating.ownerId)

/**
 * Ports have no link of their own, but clients want a MAC address. Each gets a locally administered one, derived from
 * its id.
 */
function macOf(portId: string): string {
  const bits = BigInt(`0x${createHash('sha256').update(portId).digest('hex').slice(0, 10)}`)
  return formatMac(((0x02n << 40n) | bits) as Mac)
}

/** First and last host of a prefix. */
function usableRange(cidr: string): { readonly start: string; readonly end: string } {
  const { version, first, last } = cidrToRange(parseCidr(cidr))
  const hosts = last - first > 2n ? { first: first + 1n, last: version === 4 ? last - 1n : last } : { first, last }
  return { start: formatIp({ version, value: hosts.first }), end: formatIp({ version, value: hosts.last }) }
}

/** Neutron's default gateway of a subnet: its first host. */
export const defaultGateway = (cidr: string): string => usableRange(cidr).start
