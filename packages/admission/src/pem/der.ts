/** One element of DER (ITU-T X.690): tag, length and content. */
export interface DerElement {
  readonly tag: number
  readonly content: Buffer
  /** With tag and length. */
  readonly whole: Buffer
}

export const DER = {
  bitString: 0x03,
  oid: 0x06,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
  sequence: 0x30,
  boolean: 0x01,
  integer: 0x02,
} as const

/** The elements that stand one behind another. @throws RangeError for what is not DER */
export function derElements(bytes: Buffer): readonly DerElement[] {
  const elements: DerElement[] = []
  for (let at = 0; at < bytes.length; ) {
    const element = elementAt(bytes, at)
    elements.push(element)
    at += element.whole.length
  }
  return elements
}

/** The one element that these bytes are. @throws RangeError */
export function derElement(bytes: Buffer): DerElement {
  const element = elementAt(bytes, 0)
  if (element.whole.length !== bytes.length) throw new RangeError('bytes behind the element')
  return element
}

function elementAt(bytes: Buffer, at: number): DerElement {
  const [tag, first] = [bytes[at], bytes[at + 1]]
  if (tag === undefined || first === undefined) throw new RangeError('an element is cut off')
  const isLong = first >= 0x80
  const lengthBytes = isLong ? first - 0x80 : 0
  if (isLong && (lengthBytes === 0 || lengthBytes > 4)) throw new RangeError('a length is not DER')
  const start = at + 2 + lengthBytes
  if (start > bytes.length) throw new RangeError('an element is cut off')
  const end = start + (isLong ? bytes.readUIntBE(at + 2, lengthBytes) : first)
  if (end > bytes.length) throw new RangeError('an element is cut off')
  return { tag, content: bytes.subarray(start, end), whole: bytes.subarray(at, end) }
}

/** An object identifier with dots. */
export function derOid({ content }: DerElement): string {
  const arcs: number[] = []
  let arc = 0
  for (const byte of content) {
    arc = arc * 128 + (byte & 0x7f)
    if (byte >= 0x80) continue
    arcs.push(arc)
    arc = 0
  }
  const [first = 0, ...others] = arcs
  const root = Math.min(2, Math.floor(first / 40))
  return [root, first - root * 40, ...others].join('.')
}

/** UTCTime or GeneralizedTime as RFC 5280 section 4.1.2.5 has them. @throws RangeError */
export function derTime({ tag, content }: DerElement): Date {
  const text = content.toString('latin1')
  const found = /^(\d{2}|\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/.exec(text)
  if (found === null || (found[1]!.length === 2) !== (tag === DER.utcTime)) throw new RangeError('a time is not DER')
  const [, year = '', month, day, hour, minute, second] = found
  const century = year.length === 4 ? '' : Number(year) < 50 ? '20' : '19'
  const time = new Date(`${century}${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (Number.isNaN(time.getTime())) throw new RangeError('a time does not exist')
  return time
}
