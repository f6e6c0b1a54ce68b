/** Messages of DNS (RFC 1035 section 4), which dynamic updates (RFC 2136 section 2) use with other meanings of the sections. */
import { MalformedDns, readName, writeName } from './names.ts'

export const TYPES = { A: 1, CNAME: 5, SOA: 6, TXT: 16, AAAA: 28, TSIG: 250, AXFR: 252 } as const
export type TypeName = keyof typeof TYPES
export const CLASSES = { IN: 1, NONE: 254, ANY: 255 } as const
export const OPCODES = { QUERY: 0, UPDATE: 5 } as const

export interface Question {
  readonly name: string
  readonly type: number
  readonly class: number
}

/** A resource record. `data` is as on the wire. */
export interface DnsRecord extends Question {
  /** Seconds. */
  readonly ttl: number
  readonly data: Buffer
}

export interface Message {
  readonly id: number
  readonly isAnswer: boolean
  readonly opcode: number
  readonly rcode: number
  /** In an update, the zone. */
  readonly questions: readonly Question[]
  /** In an update, the prerequisites. */
  readonly answers: readonly DnsRecord[]
  /** In an update, the records that are added and removed. */
  readonly authorities: readonly DnsRecord[]
  readonly additionals: readonly DnsRecord[]
}

const HEADER_BYTES = 12
/** Offset of the field that counts additional records in the header. */
export const ADDITIONAL_COUNT_AT = 10

/** @throws MalformedDns for a name that no message can have */
export function encodeMessage(message: Message): Buffer {
  const { id, isAnswer, opcode, rcode, questions, answers, authorities, additionals } = message
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt16BE(id, 0)
  header.writeUInt16BE((isAnswer ? 0x8000 : 0) | (opcode << 11) | rcode, 2)
  for (const [at, section] of [questions, answers, authorities, additionals].entries())
    header.writeUInt16BE(section.length, 4 + 2 * at)
  return Buffer.concat([
    header,
    ...questions.map(encodeQuestion),
    ...[...answers, ...authorities, ...additionals].map(encodeRecord),
  ])
}

const encodeQuestion = ({ name, type, class: of }: Question): Buffer =>
  Buffer.concat([writeName(name), twoBytes(type), twoBytes(of)])

export const encodeRecord = (record: DnsRecord): Buffer => {
  const ttl = Buffer.alloc(4)
  ttl.writeUInt32BE(record.ttl)
  return Buffer.concat([encodeQuestion(record), ttl, twoBytes(record.data.length), record.data])
}

export const twoBytes = (value: number): Buffer => {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

/** A parsed message, and the offset of its last record: TSIG is removed there. */
export interface ReadMessage extends Message {
  readonly lastRecordAt: number
}

/** @throws MalformedDns */
export function decodeMessage(bytes: Buffer): ReadMessage {
  if (bytes.length < HEADER_BYTES) throw new MalformedDns('the message is shorter than its header')
  const flags = bytes.readUInt16BE(2)
  let at = HEADER_BYTES
  let lastRecordAt = bytes.length
  const question = (): Question => {
    const { name, next } = readName(bytes, at)
    if (next + 4 > bytes.length) throw new MalformedDns('the message ends within a question')
    at = next + 4
    return { name, type: bytes.readUInt16BE(next), class: bytes.readUInt16BE(next + 2) }
  }
  const record = (): DnsRecord => {
    lastRecordAt = at
    const of = question()
    if (at + 6 > bytes.length) throw new MalformedDns('the message ends within a record')
    const end = at + 6 + bytes.readUInt16BE(at + 4)
    if (end > bytes.length) throw new MalformedDns('the message ends within a record')
    const read = { ...of, ttl: bytes.readUInt32BE(at), data: bytes.subarray(at + 6, end) }
    at = end
    return read
  }
  const section = <T>(count: number, read: () => T): readonly T[] => Array.from({ length: count }, () => read())
  const [questions, answers, authorities, additionals] = [
    section(bytes.readUInt16BE(4), question),
    section(bytes.readUInt16BE(6), record),
    section(bytes.readUInt16BE(8), record),
    section(bytes.readUInt16BE(ADDITIONAL_COUNT_AT), record),
  ]
  return {
    id: bytes.readUInt16BE(0),
    isAnswer: (flags & 0x8000) !== 0,
    opcode: (flags >> 11) & 0xf,
    rcode: flags & 0xf,
    ...{ questions, answers, authorities, additionals, lastRecordAt },
  }
}
