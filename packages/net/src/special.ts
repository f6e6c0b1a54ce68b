import { type Cidr, cidrsOverlap, firstIp, lastIp, parseCidr } from './cidr.ts'
import type { Ip } from './ip.ts'
import type { IpRange } from './ip-range.ts'

interface SpecialRange {
  readonly cidr: Cidr
  readonly first: bigint
  readonly last: bigint
  readonly what: string
}

function special(text: string, what: string): SpecialRange {
  const cidr = parseCidr(text)
  return { cidr, first: firstIp(cidr).value, last: lastIp(cidr).value, what }
}

/** Ranges that no tenant may name as an endpoint, in any network (IANA special-purpose registries). */
const FORBIDDEN: readonly SpecialRange[] = [
  special('0.0.0.0/8', 'the unspecified network'),
  special('127.0.0.0/8', 'loopback'),
  special('169.254.169.254/32', 'the metadata service'),
  special('169.254.0.0/16', 'link-local'),
  special('224.0.0.0/4', 'multicast'),
  special('240.0.0.0/4', 'reserved or broadcast'),
  special('::/128', 'the unspecified address'),
  special('::1/128', 'loopback'),
  special('::/96', 'IPv4-compatible'),
  special('fe80::/10', 'link-local'),
  special('fd00:ec2::254/128', 'the metadata service'),
  special('ff00::/8', 'multicast'),
  special('fec0::/10', 'site-local'),
  // These prefixes embed IPv4 addresses: a forbidden address must not get in through them.
  special('64:ff9b::/96', 'a NAT64 prefix'),
  special('64:ff9b:1::/48', 'a NAT64 prefix'),
  special('2002::/16', 'a 6to4 prefix'),
  special('2001::/32', 'the Teredo prefix'),
]

/** Why the address may never be an endpoint (`loopback`, `link-local`, ...), or null when it may. */
export function forbiddenRange({ version, value }: Ip): string | null {
  for (const { cidr, first, last, what } of FORBIDDEN)
    if (cidr.version === version && value >= first && value <= last) return what
  return null
}

/** A forbidden range that overlaps the prefix; null when there is none. */
export const forbiddenOverlap = (cidr: Cidr): string | null =>
  FORBIDDEN.find((range) => cidrsOverlap(range.cidr, cidr))?.what ?? null

/** A forbidden range that overlaps the range; null when there is none. */
export const forbiddenWithin = ({ version, first, last }: IpRange): string | null =>
  FORBIDDEN.find((range) => range.cidr.version === version && range.first <= last && range.last >= first)?.what ?? null
