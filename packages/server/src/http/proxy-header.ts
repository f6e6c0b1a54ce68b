import { formatIp, isIp, parseIp } from '@spout/net'

/** The contents of a PROXY protocol header, and its length. */
export interface ProxyHeader {
  readonly lengthBytes: number
  /** The client's address; null when the proxy connects for itself (as health checks do) or does not know it. */
  readonly address: string | null
}

const SIGNATURE_V2 = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
const SIGNATURE_V1 = Buffer.from('PROXY ')
/** Section 2.1 of the specification: the longest line with its line end. */
const MAX_V1_BYTES = 107
const FIXED_V2_BYTES = 16
/** Addresses take at most 36 bytes. The rest are TLVs, which we do not read. */
const MAX_V2_BYTES = 2048

/**
 * Reads the header at the start of a connection: PROXY protocol version 1 or 2, as in HAProxy's proxy-protocol.txt.
 * @returns null while it is incomplete
 * @throws Error if it is invalid
 */
export function readProxyHeader(bytes: Buffer): ProxyHeader | null {
  if (startsLike(bytes, SIGNATURE_V2)) return readV2(bytes)
  if (startsLike(bytes, SIGNATURE_V1)) return readV1(bytes)
  throw new Error('the connection does not begin with a PROXY header')
}

/** Whether the bytes so far are a prefix of the signature. */
const startsLike = (bytes: Buffer, signature: Buffer): boolean => {
  const length = Math.min(bytes.length, signature.length)
  return bytes.subarray(0, length).equals(signature.subarray(0, length))
}

function readV1(bytes: Buffer): ProxyHeader | null {
  const end = bytes.subarray(0, MAX_V1_BYTES).indexOf('\r\n')
  if (end < 0) {
    if (bytes.length >= MAX_V1_BYTES) throw new Error('the PROXY header has no end')
    return null
  }
  const lengthBytes = end + 2
  const words = bytes.toString('latin1', 0, end).split(' ')
  const [, family, address = ''] = words
  if (family === 'UNKNOWN') return { lengthBytes, address: null }
  const version = family === 'TCP4' ? 4 : family === 'TCP6' ? 6 : null
  if (version === null || words.length !== 6 || !isIp(address)) throw new Error('the PROXY header is not valid')
  return { lengthBytes, address: formatIp(parseIp(address)) }
}

function readV2(bytes: Buffer): ProxyHeader | null {
  if (bytes.length < FIXED_V2_BYTES) return null
  const versionAndCommand = bytes.readUInt8(12)
  const family = bytes.readUInt8(13)
  const addressBytes = bytes.readUInt16BE(14)
  const lengthBytes = FIXED_V2_BYTES + addressBytes
  if (versionAndCommand >> 4 !== 2 || lengthBytes > MAX_V2_BYTES) throw new Error('the PROXY header is not valid')
  if (bytes.length < lengthBytes) return null
  const command = versionAndCommand & 0xf
  if (command > 1) throw new Error('the PROXY header has an unknown command')
  // LOCAL, and families without addresses.
  const size = { 1: 4, 2: 16 }[family >> 4]
  if (command === 0 || size === undefined) return { lengthBytes, address: null }
  if (addressBytes < 2 * size + 4) throw new Error('the PROXY header is too short for its addresses')
  const value = BigInt(`0x${bytes.toString('hex', FIXED_V2_BYTES, FIXED_V2_BYTES + size)}`)
  // Goes through text, so that an IPv4-mapped address becomes the IPv4 address.
  const text = formatIp({ version: size === 4 ? 4 : 6, value })
  return { lengthBytes, address: formatIp(parseIp(text)) }
}
