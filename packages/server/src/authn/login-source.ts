import { cidrContains, formatIp, isIp, parseCidr, parseIp } from '@spout/net'

/** The source of callers on the socket in the state directory: users of the machine who may read its files. */
export const LOCAL_ADDRESS = 'local'

const V6_HOST_BITS = 64n
const NAT64 = parseCidr('64:ff9b::/96')

/**
 * The source that failures are counted by: an IPv4 address, or an IPv6 /64, because one host can use all of its
 * addresses.
 * @param address as in `request.ip`; text that is not an address stands for itself
 */
export function sourceOf(address: string): string {
  if (!isIp(address)) return address
  const ip = parseIp(address)
  if (ip.version === 4) return formatIp(ip)
  // RFC 6052: the last 32 bits are the IPv4 address of a client behind a translator.
  if (cidrContains(NAT64, ip)) return formatIp({ version: 4, value: ip.value & 0xffffffffn })
  return `${formatIp({ version: 6, value: (ip.value >> V6_HOST_BITS) << V6_HOST_BITS })}/64`
}
