import { type Cidr, firstIp, formatCidr, lastIp, parseCidr } from './cidr.ts'
import { AddressSyntaxError, formatIp, type Ip, ipBits, parseIp } from './ip.ts'

/** An inclusive range of addresses of one version. */
export interface IpRange {
  readonly version: 4 | 6
  readonly first: bigint
  readonly last: bigint
}

/** Parses `first-last`, a prefix, or one address. @throws AddressSyntaxError */
export function parseIpRange(text: string): IpRange {
  if (text.includes('/')) return cidrToRange(parseCidr(text))
  const dash = text.indexOf('-')
  const first = parseIp(dash < 0 ? text : text.slice(0, dash).trim())
  const last = dash < 0 ? first : parseIp(text.slice(dash + 1).trim())
  if (first.version !== last.version)
    throw new AddressSyntaxError(`${JSON.stringify(text.slice(0, 96))} mixes IPv4 and IPv6`)
  if (first.value > last.value)
    throw new AddressSyntaxError(`${JSON.stringify(text.slice(0, 96))} ends before it begins`)
  return { version: first.version, first: first.value, last: last.value }
}

export const formatIpRange = (range: IpRange): string => {
  const first = formatIp({ version: range.version, value: range.first })
  return range.first === range.last ? first : `${first}-${formatIp({ version: range.version, value: range.last })}`
}

export const cidrToRange = (cidr: Cidr): IpRange => ({
  version: cidr.version,
  first: firstIp(cidr).value,
  last: lastIp(cidr).value,
})

export const rangeSize = (range: IpRange): bigint => range.last - range.first + 1n

export const rangeContains = (range: IpRange, ip: Ip): boolean =>
  range.version === ip.version && range.first <= ip.value && ip.value <= range.last

export const rangesOverlap = (a: IpRange, b: IpRange): boolean =>
  a.version === b.version && a.first <= b.last && b.first <= a.last

/** The fewest prefixes that cover the range exactly, in order. */
export function rangeToCidrs(range: IpRange): readonly Cidr[] {
  const bits = ipBits(range.version)
  const cidrs: Cidr[] = []
  let base = range.first
  while (base <= range.last) {
    let free = 0
    while (free < bits) {
      const size = 1n << BigInt(free + 1)
      if (base % size !== 0n || base + size - 1n > range.last) break
      free++
    }
    cidrs.push({ version: range.version, base, prefix: bits - free })
    base += 1n << BigInt(free)
  }
  return cidrs
}

/** `rangeToCidrs` as text. */
export const describeRange = (range: IpRange): string => rangeToCidrs(range).map(formatCidr).join(', ')

/**
 * The addresses of a subnet that no host may have: network and broadcast, or the subnet-router anycast address (RFC
 * 4291, section 2.6.1).
 */
export function endsOf(cidr: Cidr): readonly Ip[] {
  const { version, first, last } = cidrToRange(cidr)
  // /31 and /127 are point-to-point links, which have neither (RFC 3021, RFC 6164).
  if (last - first < 2n) return []
  return version === 4
    ? [
        { version, value: first },
        { version, value: last },
      ]
    : [{ version, value: first }]
}
