import { endianness } from 'node:os'
import { PROTOCOL_NUMBERS, type Transport } from '@spout/model/protocols'
import { formatIp, type Ip } from '@spout/net'

/** In the kernel's registers marks are in host order, and everything else in network order. */
const LITTLE_ENDIAN_HOST = endianness() === 'LE'

/** Fields of a concatenation, each padded to 4 bytes. */
export type Field =
  | { readonly address: Ip }
  | { readonly transport: Transport }
  | { readonly port: number }
  | { readonly mark: number }

/** Packs fields as the kernel compares them. */
export function pack(...fields: readonly Field[]): Buffer {
  let size = 0
  for (const field of fields) size += 'address' in field && field.address.version === 6 ? 16 : 4
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (const field of fields) at = packField(bytes, at, field)
  return bytes
}

/** Writes every byte of the field; returns the start of the next one. */
function packField(bytes: Buffer, at: number, field: Field): number {
  if ('address' in field) {
    const { version, value } = field.address
    if (version === 4) return bytes.writeUInt32BE(Number(value), at)
    return bytes.writeBigUInt64BE(value & 0xffff_ffff_ffff_ffffn, bytes.writeBigUInt64BE(value >> 64n, at))
  }
  if ('transport' in field) return bytes.writeUInt32BE(PROTOCOL_NUMBERS[field.transport] * 2 ** 24, at)
  if ('port' in field) return bytes.writeUInt32BE(field.port * 2 ** 16, at)
  writeMark(bytes, field.mark, at)
  return at + 4
}

export function writeMark(bytes: Buffer, mark: number, offset: number): void {
  if (LITTLE_ENDIAN_HOST) bytes.writeUInt32LE(mark, offset)
  else bytes.writeUInt32BE(mark, offset)
}

const readMark = (bytes: Buffer): number => (LITTLE_ENDIAN_HOST ? bytes.readUInt32LE(0) : bytes.readUInt32BE(0))

const transportName = (number: number): string =>
  Object.entries(PROTOCOL_NUMBERS).find(([, known]) => known === number)?.[0] ?? String(number)

/** Formats packed fields, by the nft type of the concatenation (`ipv4_addr . inet_service`). */
export function unpack(type: string, bytes: Buffer): readonly string[] {
  let offset = 0
  const take = (size: number): Buffer => {
    offset += size
    return bytes.subarray(offset - size, offset)
  }
  return type.split(' . ').map((field) => {
    if (field === 'ipv4_addr') return formatIp({ version: 4, value: BigInt(take(4).readUInt32BE()) })
    if (field === 'ipv6_addr') return formatIp({ version: 6, value: BigInt(`0x${take(16).toString('hex')}`) })
    if (field === 'inet_proto') return transportName(take(4).readUInt8())
    if (field === 'inet_service') return String(take(4).readUInt16BE())
    return `0x${readMark(take(4)).toString(16).padStart(8, '0')}`
  })
}
