/** An IPv4 or IPv6 address. Plain data: equal when both fields are equal. */
export interface Ip {
  readonly version: 4 | 6
  /** The address as an unsigned number, 32 or 128 bits. */
  readonly value: bigint
}

/** The text is not an address, prefix, range, MAC or port range. `message` says why, without the field's name. */
export class AddressSyntaxError extends Error {
  override readonly name = 'AddressSyntaxError'

  /** @param message may quote the text: it becomes printable ASCII, since terminals and logs show it */
  constructor(message: string) {
    super(message.replaceAll(/[^\x20-\x7e]/g, '?'))
  }
}

const fail = (text: string, why: string): never => {
  throw new AddressSyntaxError(`${JSON.stringify(text.slice(0, 64))} ${why}`)
}

const HEX_GROUP = /^[0-9a-fA-F]{1,4}$/

const [ZERO, NINE, DOT] = [0x30, 0x39, 0x2e]

/** Reads characters instead of a regular expression: a request may have thousands of members. */
function parseIpv4Value(text: string): bigint | null {
  let [value, octet, digits, dots] = [0, 0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === DOT) {
      if (digits === 0 || ++dots > 3) return null
      value = value * 256 + octet
      octet = 0
      digits = 0
    } else if (code >= ZERO && code <= NINE) {
      // No leading zeros: some parsers read 010 as octal 8, which turns an allow list into a bypass.
      if (digits > 0 && octet === 0) return null
      octet = octet * 10 + (code - ZERO)
      digits++
      if (octet > 255) return null
    } else return null
  }
  return dots === 3 && digits > 0 ? BigInt(value * 256 + octet) : null
}

function parseGroups(text: string): bigint[] | null {
  if (text === '') return []
  const parts = text.split(':')
  const groups: bigint[] = []
  for (const [index, part] of parts.entries()) {
    if (index === parts.length - 1 && part.includes('.')) {
      const v4 = parseIpv4Value(part)
      if (v4 === null) return null
      groups.push(v4 >> 16n, v4 & 0xffffn)
    } else if (HEX_GROUP.test(part)) groups.push(BigInt(`0x${part}`))
    else return null
  }
  return groups
}

function parseIpv6Value(text: string): bigint | null {
  const halves = text.split('::')
  if (halves.length > 2) return null
  const head = parseGroups(halves[0] ?? '')
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? '') : []
  if (head === null || tail === null) return null
  const missing = 8 - head.length - tail.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null
  // An embedded IPv4 part may stand only at the very end.
  if (halves.length === 2 && halves[0]?.includes('.')) return null
  return [...head, ...Array<bigint>(missing).fill(0n), ...tail].reduce((value, group) => (value << 16n) | group, 0n)
}

/**
 * Parses one address: dotted decimal without leading zeros, or IPv6 text (RFC 4291 section 2.2). No zone index and no
 * prefix. An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) becomes the IPv4 address, so that one address has one form.
 * @throws AddressSyntaxError
 */
export function parseIp(text: string): Ip {
  if (text.length > 45) return fail(text, 'is not an IP address')
  if (text.includes('%')) return fail(text, 'has a zone index, which is not accepted')
  if (!text.includes(':')) {
    const value = parseIpv4Value(text)
    return value === null ? fail(text, 'is not an IP address') : { version: 4, value }
  }
  const value = parseIpv6Value(text)
  if (value === null) return fail(text, 'is not an IP address')
  return value >> 32n === 0xffffn ? { version: 4, value: value & 0xffffffffn } : { version: 6, value }
}

/** Whether `parseIp` accepts the text. */
export function isIp(text: string): boolean {
  try {
    parseIp(text)
    return true
  } catch {
    return false
  }
}

function formatIpv6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - 16 * index)) & 0xffffn))
  // RFC 5952: the longest run of two or more zero groups is compressed, the first one on a tie.
  let best = { start: -1, length: 1 }
  for (let start = 0; start < 8; start++) {
    let length = 0
    while (start + length < 8 && groups[start + length] === 0) length++
    if (length > best.length) best = { start, length }
  }
  const hex = groups.map((group) => group.toString(16))
  if (best.start < 0) return hex.join(':')
  return `${hex.slice(0, best.start).join(':')}::${hex.slice(best.start + best.length).join(':')}`
}

/** Prints the canonical text: dotted decimal, or RFC 5952. `parseIp(formatIp(ip))` equals `ip`. */
export function formatIp(ip: Ip): string {
  if (ip.version === 6) return formatIpv6(ip.value)
  const value = Number(ip.value)
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`
}

/** The canonical text of an address given as text. @throws AddressSyntaxError */
export const canonicalIp = (text: string): string => formatIp(parseIp(text))

/** Orders IPv4 before IPv6, then by value. */
export function compareIp(a: Ip, b: Ip): number {
  if (a.version !== b.version) return a.version - b.version
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0
}

export const ipEquals = (a: Ip, b: Ip): boolean => a.version === b.version && a.value === b.value

/** Network byte order: 4 or 16 bytes. */
export function ipToBytes(ip: Ip): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(ip.version === 4 ? 4 : 16))
  if (ip.version === 4) bytes.setUint32(0, Number(ip.value))
  else {
    bytes.setBigUint64(0, ip.value >> 64n)
    bytes.setBigUint64(8, ip.value)
  }
  return new Uint8Array(bytes.buffer)
}

/** Number of bits of an address of this version. */
export const ipBits = (version: 4 | 6): number => (version === 4 ? 32 : 128)
