/** Signatures of messages by a shared secret (RFC 8945). */
import { createHmac, timingSafeEqual } from 'node:crypto'
import {
  ADDITIONAL_COUNT_AT,
  CLASSES,
  type DnsRecord,
  encodeRecord,
  type ReadMessage,
  TYPES,
  twoBytes,
} from './message.ts'
import { MalformedDns, readName, writeName } from './names.ts'

/** The hash by the algorithm's name (section 6). */
const HASHES = { 'hmac-sha256': 'sha256', 'hmac-sha512': 'sha512' } as const
export type TsigAlgorithm = keyof typeof HASHES
export const TSIG_ALGORITHMS = Object.keys(HASHES) as readonly TsigAlgorithm[]

export interface TsigKey {
  readonly name: string
  readonly algorithm: TsigAlgorithm
  readonly secret: Buffer
}

/** Seconds that the clocks may differ (section 10). */
const FUDGE_SECONDS = 300
/** How many messages of an answer may be unsigned in a row (section 5.3.1). */
const MOST_UNSIGNED = 99

/** Why a signature was refused: the error that the server returned (section 3), or that its own signature is wrong. */
export class TsigFailure extends Error {
  override readonly name = 'TsigFailure'
}

interface Tsig {
  readonly keyName: string
  readonly algorithm: string
  readonly signedAt: number
  readonly fudge: number
  readonly mac: Buffer
  readonly originalId: number
  readonly error: number
  readonly other: Buffer
}

/** @returns the message with its signature, and the signature, which that of the answer covers */
export function sign(message: Buffer, key: TsigKey, nowMs: number): { readonly bytes: Buffer; readonly mac: Buffer } {
  const unsigned = {
    ...{ keyName: key.name, algorithm: key.algorithm, signedAt: Math.floor(nowMs / 1000), fudge: FUDGE_SECONDS },
    ...{ mac: Buffer.alloc(0), originalId: message.readUInt16BE(0), error: 0, other: Buffer.alloc(0) },
  }
  const mac = digest(key, [message, variablesOf(unsigned)])
  const bytes = Buffer.concat([message, encodeRecord(recordOf({ ...unsigned, mac }))])
  bytes.writeUInt16BE(bytes.readUInt16BE(ADDITIONAL_COUNT_AT) + 1, ADDITIONAL_COUNT_AT)
  return { bytes, mac }
}

/** Verifies the messages of one answer, in order. */
export class AnswerVerifier {
  readonly #key: TsigKey
  #prior: Buffer
  #unsigned: Buffer[] = []
  #isFirst = true

  /** @param requestMac of the request */
  constructor(key: TsigKey, requestMac: Buffer) {
    this.#key = key
    this.#prior = requestMac
  }

  /** Whether the last message was signed. That of a whole answer must be. */
  get isComplete(): boolean {
    return !this.#isFirst && this.#unsigned.length === 0
  }

  /** @throws TsigFailure, MalformedDns */
  verify(bytes: Buffer, message: ReadMessage, nowMs: number): void {
    const last = message.additionals.at(-1)
    if (last?.type !== TYPES.TSIG) {
      this.#keep(bytes)
      return
    }
    const tsig = tsigOf(last)
    const stripped = Buffer.from(bytes.subarray(0, message.lastRecordAt))
    stripped.writeUInt16BE(tsig.originalId, 0)
    stripped.writeUInt16BE(message.additionals.length - 1, ADDITIONAL_COUNT_AT)
    // The server could not use the key, so this answer has no signature (section 5.3.2).
    if (tsig.error !== 0 && tsig.mac.length === 0) throw refusal(this.#key, tsig)
    if (tsig.keyName !== this.#key.name || tsig.algorithm !== this.#key.algorithm)
      throw new TsigFailure('the answer is signed with another key')
    const covered = [twoBytes(this.#prior.length), this.#prior, ...this.#unsigned, stripped]
    const expected = digest(this.#key, [...covered, this.#isFirst ? variablesOf(tsig) : timersOf(tsig)])
    if (tsig.mac.length !== expected.length || !timingSafeEqual(tsig.mac, expected))
      throw new TsigFailure('the signature of the answer is wrong')
    if (tsig.error !== 0) throw refusal(this.#key, tsig)
    if (Math.abs(nowMs / 1000 - tsig.signedAt) > tsig.fudge) throw new TsigFailure(CLOCKS)
    this.#prior = tsig.mac
    this.#unsigned = []
    this.#isFirst = false
  }

  #keep(bytes: Buffer): void {
    if (this.#isFirst) throw new TsigFailure('the answer is not signed')
    if (this.#unsigned.push(bytes) > MOST_UNSIGNED) throw new TsigFailure('100 messages of the answer are not signed')
  }
}

const CLOCKS = 'its clock and ours differ by more than 5 minutes (BADTIME)'

function refusal({ name, algorithm }: TsigKey, { error }: Tsig): TsigFailure {
  const why: Readonly<Record<number, string>> = {
    16: `the secret of key ${name} is not the server's (BADSIG)`,
    17: `it knows no key ${name} of ${algorithm} (BADKEY)`,
    18: CLOCKS,
    22: `it refuses the length of the signature (BADTRUNC)`,
  }
  return new TsigFailure(why[error] ?? `it refuses the signature with error ${error}`)
}

const digest = ({ algorithm, secret }: TsigKey, parts: readonly Buffer[]): Buffer => {
  const hmac = createHmac(HASHES[algorithm], secret)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

/** 48 bits. */
const timeBytes = (seconds: number): Buffer => {
  const bytes = Buffer.alloc(6)
  bytes.writeUIntBE(seconds, 0, 6)
  return bytes
}

/** The data that a signature covers besides the message (section 4.3.3). */
const variablesOf = (tsig: Tsig): Buffer =>
  Buffer.concat([
    writeName(tsig.keyName),
    ...[twoBytes(CLASSES.ANY), Buffer.alloc(4), writeName(tsig.algorithm), timersOf(tsig)],
    ...[twoBytes(tsig.error), twoBytes(tsig.other.length), tsig.other],
  ])

const timersOf = ({ signedAt, fudge }: Tsig): Buffer => Buffer.concat([timeBytes(signedAt), twoBytes(fudge)])

const recordOf = (tsig: Tsig): DnsRecord => ({
  name: tsig.keyName,
  type: TYPES.TSIG,
  class: CLASSES.ANY,
  ttl: 0,
  data: Buffer.concat([
    ...[writeName(tsig.algorithm), timersOf(tsig), twoBytes(tsig.mac.length), tsig.mac],
    ...[twoBytes(tsig.originalId), twoBytes(tsig.error), twoBytes(tsig.other.length), tsig.other],
  ]),
})

function tsigOf({ name, data }: DnsRecord): Tsig {
  const { name: algorithm, next } = readName(data, 0)
  const macAt = next + 10
  if (macAt > data.length) throw new MalformedDns('a signature does not end')
  const macEnd = macAt + data.readUInt16BE(next + 8)
  if (macEnd + 6 > data.length) throw new MalformedDns('a signature does not end')
  return {
    ...{ keyName: name, algorithm, signedAt: data.readUIntBE(next, 6), fudge: data.readUInt16BE(next + 6) },
    mac: data.subarray(macAt, macEnd),
    ...{ originalId: data.readUInt16BE(macEnd), error: data.readUInt16BE(macEnd + 2) },
    other: data.subarray(macEnd + 6, macEnd + 6 + data.readUInt16BE(macEnd + 4)),
  }
}
