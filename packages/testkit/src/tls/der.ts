/** Writes and reads the few ASN.1 values that certificates are made of, in DER (X.690). */

/** A value of this tag. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const bytes = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...bytes]), content])
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts)
export const set = (...parts: readonly Uint8Array[]): Buffer => der(0x31, ...parts)
export const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text))
export const octets = (content: Uint8Array): Buffer => der(0x04, content)
export const bits = (content: Uint8Array): Buffer => der(0x03, Buffer.from([0]), content)
export const yes = der(0x01, Buffer.from([0xff]))
export const nothing = der(0x05)
/** @param bytes a number above 0, highest byte first */
export const integer = (bytes: Uint8Array): Buffer =>
  der(0x02, bytes[0]! < 0x80 ? Buffer.alloc(0) : Buffer.alloc(1), bytes)

/** @param text such as `2.5.29.17` */
export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(inSevens)]))
}

/** In groups of seven bits, of which all but the last have the eighth set. */
function inSevens(number: number): readonly number[] {
  const bytes = [number & 0x7f]
  for (let left = number >> 7; left > 0; left >>= 7) bytes.unshift((left & 0x7f) | 0x80)
  return bytes
}

/** A time before 2050, in seconds. */
export const time = (when: Date): Buffer =>
  der(0x17, Buffer.from(`${when.toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`))

/** A value without its tag and length. */
export const contentOf = (value: Uint8Array): Uint8Array => value.subarray(headerOf(value).header)

/** The values inside a constructed one, each with its tag and length. */
export function inside(value: Uint8Array): readonly Uint8Array[] {
  const found: Uint8Array[] = []
  for (let at = headerOf(value).header; at < value.length; ) {
    const { header, length } = headerOf(value.subarray(at))
    found.push(value.subarray(at, at + header + length))
    at += header + length
  }
  return found
}

function headerOf(value: Uint8Array): { readonly header: number; readonly length: number } {
  const first = value[1]!
  if (first < 0x80) return { header: 2, length: first }
  const count = first & 0x7f
  return { header: 2 + count, length: value.subarray(2, 2 + count).reduce((sum, byte) => sum * 256 + byte, 0) }
}
