import { type Cidr, cidrContains, formatIp, isIp, parseIp } from '@spout/net'

/**
 * Where a trusted proxy names the client's address. Only one is read, because a client may set what its proxy does not.
 */
export const CLIENT_ADDRESS_SOURCES = ['x-forwarded-for', 'forwarded', 'proxy-protocol'] as const

export interface ProxyTrust {
  /** The proxies to trust. On connections from elsewhere such headers are ignored. */
  readonly trustedProxies: readonly Cidr[]
  readonly clientAddressFrom: (typeof CLIENT_ADDRESS_SOURCES)[number]
}

/** How many proxies of a chain are looked at. Real chains are shorter. */
const MOST_HOPS = 32

export const isTrustedProxy = (trusted: readonly Cidr[], address: string): boolean => {
  if (!isIp(address)) return false
  const ip = parseIp(address)
  return trusted.some((cidr) => cidrContains(cidr, ip))
}

/**
 * The client's address: the last address of the header that is not a trusted proxy. Each proxy appends the address that
 * it got the request from, so anybody could have written what stands before that one.
 * @param peer the connection's other end
 * @param header `X-Forwarded-For`, or `Forwarded` (RFC 7239 section 4), by `clientAddressFrom`
 */
export function clientAddress(
  { trustedProxies, clientAddressFrom }: ProxyTrust,
  peer: string,
  header: string | undefined,
): string {
  if (header === undefined || !isTrustedProxy(trustedProxies, peer)) return peer
  const elements = header.split(',').slice(-MOST_HOPS).reverse()
  let client = peer
  for (const element of elements) {
    const named = addressIn(clientAddressFrom === 'forwarded' ? forOf(element) : element.trim())
    // A proxy that hides or garbles its client counts as the client.
    if (named === null) return client
    client = named
    if (!isTrustedProxy(trustedProxies, client)) return client
  }
  return client
}

/** The node after `for=`, without its quotes. Empty when there is none. */
function forOf(element: string): string {
  const found = /(?:^|;)\s*for=(?:"([^"\\]*)"|([^;\s"]*))\s*(?:;|$)/i.exec(element)
  return found?.[1] ?? found?.[2] ?? ''
}

/**
 * The address of `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:80`; null for anything
 * else.
 */
function addressIn(node: string): string | null {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\](?::\d{1,5})?|([0-9.]+)(?::\d{1,5})?)$/i.exec(node) ?? []
  const text = bracketed ?? plain ?? node
  return isIp(text) ? formatIp(parseIp(text)) : null
}
