import { AddressSyntaxError, formatIp, type Ip, ipBits, parseIp } from './ip.ts'

/** A prefix. The bits of `base` behind `prefix` are zero. */
export interface Cidr {
  readonly version: 4 | 6
  readonly base: bigint
  readonly prefix: number
}

/** By number of bits. Made once: a document may have thousands of addresses, each compared with many prefixes. */
const MASKS: readonly bigint[] = Array.from({ length: 129 }, (_, bits) => (1n << BigInt(bits)) - 1n)

const hostMask = (version: 4 | 6, prefix: number): bigint => MASKS[ipBits(version) - prefix]!

/**
 * Parses `address/prefix`. Host bits must be zero unless `hostBits` is `clear`, which zeroes them.
 * @throws AddressSyntaxError
 */
export function parseCidr(text: string, hostBits: 'refuse' | 'clear' = 'refuse'): Cidr {
  const slash = text.indexOf('/')
  if (slash < 0) throw new AddressSyntaxError(`${JSON.stringify(text.slice(0, 64))} has no prefix length`)
  const ip = parseIp(text.slice(0, slash))
  const prefixText = text.slice(slash + 1)
  if (!/^(0|[1-9][0-9]{0,2})$/.test(prefixText) || Number(prefixText) > ipBits(ip.version))
    throw new AddressSyntaxError(`${JSON.stringify(text.slice(0, 64))} has a bad prefix length`)
  const prefix = Number(prefixText)
  const base = ip.value & ~hostMask(ip.version, prefix)
  if (hostBits === 'refuse' && base !== ip.value)
    throw new AddressSyntaxError(`${JSON.stringify(text.slice(0, 64))} has bits set behind the prefix`)
  return { version: ip.version, base, prefix }
}

export const formatCidr = (cidr: Cidr): string =>
  `${formatIp({ version: cidr.version, value: cidr.base })}/${cidr.prefix}`

/** The prefix of a single address: /32 or /128. */
export const hostCidr = (ip: Ip): Cidr => ({ version: ip.version, base: ip.value, prefix: ipBits(ip.version) })

export const firstIp = (cidr: Cidr): Ip => ({ version: cidr.version, value: cidr.base })
export const lastIp = (cidr: Cidr): Ip => ({
  version: cidr.version,
  value: cidr.base | hostMask(cidr.version, cidr.prefix),
})

export const cidrContains = (cidr: Cidr, ip: Ip): boolean =>
  cidr.version === ip.version && (ip.value & ~hostMask(cidr.version, cidr.prefix)) === cidr.base

export function cidrsOverlap(a: Cidr, b: Cidr): boolean {
  if (a.version !== b.version) return false
  const prefix = Math.min(a.prefix, b.prefix)
  return (a.base & ~hostMask(a.version, prefix)) === (b.base & ~hostMask(b.version, prefix))
}

/** The two halves of a prefix, or an empty list for a single address. */
export function splitCidr(cidr: Cidr): readonly Cidr[] {
  if (cidr.prefix === ipBits(cidr.version)) return []
  const prefix = cidr.prefix + 1
  const upper = cidr.base | (1n << BigInt(ipBits(cidr.version) - prefix))
  return [
    { version: cidr.version, base: cidr.base, prefix },
    { version: cidr.version, base: upper, prefix },
  ]
}
