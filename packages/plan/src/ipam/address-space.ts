import type { AddressPool, Subnet } from '@spout/model'
import {
  cidrToRange,
  endsOf,
  type Ip,
  type IpRange,
  parseCidr,
  parseIp,
  parseIpRange,
  rangeContains,
  rangeSize,
} from '@spout/net'

/** The ranges that addresses may be taken from, in order, without overlaps. */
export interface AddressSpace {
  /** For messages, after the words "address pool": `public`, `of subnet 10.0.0.0/24`. */
  readonly name: string
  /** For messages: the range that an address must be in. */
  readonly within: string
  /** The ranges with the addresses that are excluded: gateways, nodes' ranges and the like. */
  readonly whole: readonly IpRange[]
  readonly ranges: readonly IpRange[]
}

/** An address pool's ranges, without its gateway and the network and broadcast address of its subnet. */
export function poolSpace(pool: Pick<AddressPool, 'id' | 'name' | 'ranges' | 'cidr' | 'gatewayIp'>): AddressSpace {
  const ends = endsOf(parseCidr(pool.cidr))
  const excluded = pool.gatewayIp === null ? ends : [...ends, parseIp(pool.gatewayIp)]
  const whole: readonly IpRange[] = pool.ranges.map(({ first, last }) => parseIpRange(`${first}-${last}`))
  return {
    name: pool.name || pool.id,
    within: pool.ranges.map(({ first, last }) => (first === last ? first : `${first}-${last}`)).join(', '),
    whole,
    ranges: excluded.reduce(without, whole),
  }
}

type SubnetRanges = Pick<Subnet, 'cidr' | 'gatewayIp' | 'nodeRange'>

/** The addresses that a tenant may take in a subnet: without its ends, its gateway and the nodes' range. */
export function subnetSpace(subnet: SubnetRanges): AddressSpace {
  const usable = usableRanges(subnet)
  const nodes = nodeRangeOf(subnet)
  return {
    name: `of subnet ${subnet.cidr}`,
    within: subnet.cidr,
    whole: [cidrToRange(parseCidr(subnet.cidr))],
    ranges: nodes === null ? usable : usable.flatMap((range) => subtract(range, nodes)),
  }
}

/** The addresses for nodes: the range reserved for them, or the whole subnet, of which nodes take the highest. */
export function nodeSpace(subnet: SubnetRanges): AddressSpace {
  const nodes = nodeRangeOf(subnet)
  return {
    name: `for nodes in subnet ${subnet.cidr}`,
    whole: [nodes ?? cidrToRange(parseCidr(subnet.cidr))],
    within: subnet.nodeRange === null ? subnet.cidr : `${subnet.nodeRange.first}-${subnet.nodeRange.last}`,
    ranges: usableRanges(subnet).flatMap((range) => (nodes === null ? [range] : intersect(range, nodes))),
  }
}

export const anyContains = (ranges: readonly IpRange[], ip: Ip): boolean =>
  ranges.some((range) => rangeContains(range, ip))

export const spaceSize = (space: AddressSpace): bigint =>
  space.ranges.reduce((sum, range) => sum + rangeSize(range), 0n)

function usableRanges(subnet: SubnetRanges): readonly IpRange[] {
  const cidr = parseCidr(subnet.cidr)
  const excluded = subnet.gatewayIp === null ? endsOf(cidr) : [...endsOf(cidr), parseIp(subnet.gatewayIp)]
  return excluded.reduce(without, [cidrToRange(cidr)])
}

const nodeRangeOf = (subnet: SubnetRanges): IpRange | null =>
  subnet.nodeRange === null ? null : parseIpRange(`${subnet.nodeRange.first}-${subnet.nodeRange.last}`)

const without = (ranges: readonly IpRange[], ip: Ip): readonly IpRange[] =>
  ranges.flatMap((range) => subtract(range, { version: ip.version, first: ip.value, last: ip.value }))

function subtract(range: IpRange, hole: IpRange): readonly IpRange[] {
  if (range.version !== hole.version || hole.last < range.first || range.last < hole.first) return [range]
  const parts: IpRange[] = []
  if (range.first < hole.first) parts.push({ ...range, last: hole.first - 1n })
  if (hole.last < range.last) parts.push({ ...range, first: hole.last + 1n })
  return parts
}

function intersect(range: IpRange, other: IpRange): readonly IpRange[] {
  if (range.version !== other.version) return []
  const first = range.first > other.first ? range.first : other.first
  const last = range.last < other.last ? range.last : other.last
  return first <= last ? [{ ...range, first, last }] : []
}
