/** What A, AAAA (RFC 3596) and TXT records hold, as values. */
import { formatIp, ipToBytes, parseIp } from '@spout/net'
import { type DnsRecord, TYPES } from './message.ts'
import { MalformedDns } from './names.ts'

const MOST_STRING_BYTES = 255

/** The type and data of the record of an address. @throws AddressSyntaxError */
export function dataOfAddress(address: string): { readonly type: 'A' | 'AAAA'; readonly data: Buffer } {
  const ip = parseIp(address)
  return { type: ip.version === 4 ? 'A' : 'AAAA', data: Buffer.from(ipToBytes(ip)) }
}

/** The address of an A or AAAA record, in canonical text. @throws MalformedDns */
export function addressOf({ type, data }: Pick<DnsRecord, 'type' | 'data'>): string {
  const [version, bytes] = type === TYPES.A ? ([4, 4] as const) : ([6, 16] as const)
  if (data.length !== bytes) throw new MalformedDns(`an address has ${data.length} bytes`)
  return formatIp({ version, value: BigInt(`0x${data.toString('hex')}`) })
}

/** A text as character strings of at most 255 bytes (RFC 1035 section 3.3.14). */
export function dataOfText(text: string): Buffer {
  const bytes = Buffer.from(text)
  const count = Math.max(1, Math.ceil(bytes.length / MOST_STRING_BYTES))
  const strings = Array.from({ length: count }, (_, at) =>
    bytes.subarray(at * MOST_STRING_BYTES, (at + 1) * MOST_STRING_BYTES),
  )
  return Buffer.concat(strings.flatMap((string) => [Buffer.of(string.length), string]))
}

/** The strings of a TXT record as one text. @throws MalformedDns */
export function textOf({ data }: Pick<DnsRecord, 'data'>): string {
  const strings: Buffer[] = []
  for (let at = 0; at < data.length; ) {
    const end = at + 1 + (data[at] ?? 0)
    if (end > data.length) throw new MalformedDns('a text does not end')
    strings.push(data.subarray(at + 1, end))
    at = end
  }
  return Buffer.concat(strings).toString()
}
