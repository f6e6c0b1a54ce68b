import { type ClientNetworks, clientNetworks } from '@spout/model'
import { formatIp, parseIp } from '@spout/net'
import { unsupportedOption } from '../wire/fault.ts'

const BITS = { 4: 32, 6: 128 } as const

/** The mask of a prefix length; null for none. */
export function granularityOf({ ipv4Prefix, ipv6Prefix }: ClientNetworks = {}): string | null {
  if (ipv4Prefix !== undefined) return formatIp({ version: 4, value: mask(4, ipv4Prefix) })
  return ipv6Prefix === undefined ? null : formatIp({ version: 6, value: mask(6, ipv6Prefix) })
}

const mask = (version: 4 | 6, prefix: number): bigint =>
  (1n << BigInt(BITS[version])) - (1n << BigInt(BITS[version] - prefix))

/**
 * Converts a mask such as `255.255.255.0` to the networks that clients are grouped by. Octavia accepts any address and
 * passes it to keepalived.
 * @throws OctaviaFault for a mask that nodes cannot apply
 */
export function networksOf(granularity: string): ClientNetworks {
  const { version, value } = parseIp(granularity)
  const prefix = BITS[version] - zerosOf(value, BITS[version])
  const networks = clientNetworks.safeParse(version === 4 ? { ipv4Prefix: prefix } : { ipv6Prefix: prefix })
  if (value !== mask(version, prefix) || !networks.success)
    throw unsupportedOption(
      `session_persistence persistence_granularity ${granularity}: masks are those of IPv4 networks, and of IPv6 networks of 4 to 64 bits in steps of 4, here`,
    )
  return networks.data
}

/** The number of zero bits at the end. */
function zerosOf(value: bigint, bits: number): number {
  let zeros = 0
  while (zeros < bits && ((value >> BigInt(zeros)) & 1n) === 0n) zeros++
  return zeros
}
