/** Names on the wire (RFC 1035 section 3.1) and as text in lower case, without a dot at the end; the root is empty. */

const MOST_LABEL_BYTES = 63
const MOST_NAME_BYTES = 255
/** More pointers than a name has labels are a loop. */
const MOST_POINTERS = 127

/** A message that is not DNS, or a name that fits in none. */
export class MalformedDns extends Error {
  override readonly name = 'MalformedDns'
}

/**
 * @param name bytes that are not printable, dots and backslashes inside of a label as `\DDD`
 * @returns it uncompressed
 * @throws MalformedDns
 */
export function writeName(name: string): Buffer {
  const labels = name === '' ? [] : name.split('.').map(bytesOf)
  const parts = labels.flatMap((label) => [Buffer.of(label.length), label])
  const bytes = Buffer.concat([...parts, Buffer.of(0)])
  if (bytes.length > MOST_NAME_BYTES) throw new MalformedDns(`the name ${name} is longer than 255 bytes`)
  return bytes
}

function bytesOf(label: string): Buffer {
  const bytes: number[] = []
  for (const [part, code] of label.matchAll(/\\(\d{3})|[\s\S]/g))
    bytes.push(code === undefined ? part.toLowerCase().charCodeAt(0) : Number(code))
  if (bytes.length === 0 || bytes.length > MOST_LABEL_BYTES || bytes.some((byte) => byte > 255))
    throw new MalformedDns(`the label ${JSON.stringify(label)} has not 1 to 63 bytes`)
  return Buffer.from(bytes)
}

/**
 * Reads a name, which may point to earlier ones (RFC 1035 section 4.1.4).
 * @returns it, and the offset behind it
 * @throws MalformedDns
 */
export function readName(message: Buffer, start: number): { readonly name: string; readonly next: number } {
  const labels: string[] = []
  let at = start
  let next: number | null = null
  let length = 0
  for (let pointers = 0; ; ) {
    const size = byteAt(message, at)
    if (size === 0) return { name: labels.join('.'), next: next ?? at + 1 }
    if (size >= 0xc0) {
      if (++pointers > MOST_POINTERS) throw new MalformedDns('a name points in a circle')
      next ??= at + 2
      at = ((size & 0x3f) << 8) | byteAt(message, at + 1)
      continue
    }
    if (size > MOST_LABEL_BYTES) throw new MalformedDns('a label is of a kind that does not exist')
    length += size + 1
    if (length >= MOST_NAME_BYTES || at + 1 + size > message.length) throw new MalformedDns('a name does not end')
    labels.push([...message.subarray(at + 1, at + 1 + size)].map(shown).join(''))
    at += size + 1
  }
}

function byteAt(message: Buffer, at: number): number {
  const byte = message[at]
  if (byte === undefined) throw new MalformedDns('the message ends within a name')
  return byte
}

const shown = (byte: number): string => {
  const isPlain = byte > 0x20 && byte < 0x7f && byte !== 0x2e && byte !== 0x5c
  return isPlain ? String.fromCharCode(byte).toLowerCase() : `\\${String(byte).padStart(3, '0')}`
}
