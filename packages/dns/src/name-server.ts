import { randomInt } from 'node:crypto'
import { CLASSES, type DnsRecord, decodeMessage, encodeMessage, OPCODES, TYPES, type TypeName } from './message.ts'
import { MalformedDns } from './names.ts'
import { TcpSession } from './tcp-session.ts'
import { AnswerVerifier, sign, TsigFailure, type TsigKey } from './tsig.ts'

export interface ServerAddress {
  readonly host: string
  readonly port: number
}

export interface Update {
  readonly zone: string
  readonly prerequisites: readonly DnsRecord[]
  readonly changes: readonly DnsRecord[]
}

/** The server refused, or did not answer. `message` says why, for people. */
export class DnsFailure extends Error {
  override readonly name = 'DnsFailure'
  /**
   * `prerequisite`: the records are not as the update requires. `refused`: the server refused. `unreachable`: there was
   * no answer.
   */
  readonly kind: 'prerequisite' | 'refused' | 'unreachable'

  constructor(kind: DnsFailure['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

/** RFC 1035 section 4.1.1, RFC 2136 section 2.2. */
const RCODES: Readonly<Record<number, string>> = {
  ...{ 1: 'FORMERR', 2: 'SERVFAIL', 3: 'NXDOMAIN', 4: 'NOTIMP', 5: 'REFUSED' },
  ...{ 6: 'YXDOMAIN', 7: 'YXRRSET', 8: 'NXRRSET', 9: 'NOTAUTH', 10: 'NOTZONE' },
}
const PREREQUISITES = new Set(['YXDOMAIN', 'YXRRSET', 'NXRRSET', 'NXDOMAIN'])

export interface NameServerOptions extends ServerAddress {
  readonly key: TsigKey
  /** For one request with its whole answer. */
  readonly timeoutMs?: number
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

const TIMEOUT_MS = 5000
/** A zone has many messages. */
const TRANSFER_TIMEOUT_MS = 60_000

/** An authoritative name server. Each call opens a connection: updates are rare, and one may be long after the other. */
export class NameServer {
  readonly #options: NameServerOptions

  constructor(options: NameServerOptions) {
    this.#options = options
  }

  /** The records of a name and type; none for a name that does not exist. @throws DnsFailure */
  async query(name: string, type: TypeName): Promise<readonly DnsRecord[]> {
    const [answer] = await this.#ask(OPCODES.QUERY, { name, type }, this.#timeoutMs, () => true)
    if (answer === undefined || answer.rcode === 3) return []
    refuse(answer.rcode)
    return answer.answers.filter((record) => record.name === name && record.type === TYPES[type])
  }

  /** Applies all of the changes, or none. @throws DnsFailure */
  async update({ zone, prerequisites, changes }: Update): Promise<void> {
    const sections = { answers: prerequisites, authorities: changes }
    const [answer] = await this.#ask(OPCODES.UPDATE, { name: zone, type: 'SOA' }, this.#timeoutMs, () => true, sections)
    if (answer !== undefined) refuse(answer.rcode)
  }

  /** All records of the zone (AXFR, RFC 5936). @throws DnsFailure */
  async transfer(zone: string): Promise<readonly DnsRecord[]> {
    let starts = 0
    const answers = await this.#ask(OPCODES.QUERY, { name: zone, type: 'AXFR' }, TRANSFER_TIMEOUT_MS, (answer) => {
      refuse(answer.rcode)
      // The first record and the last are the zone's SOA.
      starts += answer.answers.filter(({ type }) => type === TYPES.SOA).length
      return starts >= 2 || answer.answers.length === 0
    })
    if (starts < 2) throw new DnsFailure('refused', 'it does not transfer the zone')
    return answers.flatMap(({ answers: records }) => records).slice(0, -1)
  }

  get #timeoutMs(): number {
    return this.#options.timeoutMs ?? TIMEOUT_MS
  }

  async #ask(
    opcode: number,
    { name, type }: { readonly name: string; readonly type: TypeName },
    timeoutMs: number,
    isLast: (answer: ReturnType<typeof decodeMessage>) => boolean,
    sections: { readonly answers: readonly DnsRecord[]; readonly authorities: readonly DnsRecord[] } = {
      ...{ answers: [], authorities: [] },
    },
  ): Promise<readonly ReturnType<typeof decodeMessage>[]> {
    const { key, now = Date.now } = this.#options
    const id = randomInt(0x10000)
    const questions = [{ name, type: TYPES[type], class: CLASSES.IN }]
    const request = { id, isAnswer: false, opcode, rcode: 0, questions, ...sections, additionals: [] }
    const signed = sign(encodeMessage(request), key, now())
    const verifier = new AnswerVerifier(key, signed.mac)
    const session = new TcpSession(this.#options, timeoutMs)
    const answers: ReturnType<typeof decodeMessage>[] = []
    try {
      session.send(signed.bytes)
      for (;;) {
        const bytes = await session.receive()
        const answer = decodeMessage(bytes)
        if (answer.id !== id || !answer.isAnswer) throw new MalformedDns('the answer is to another question')
        verify(verifier, bytes, answer, now())
        answers.push(answer)
        if (!isLast(answer)) continue
        if (!verifier.isComplete) throw new TsigFailure('the end of the answer is not signed')
        return answers
      }
    } catch (error) {
      throw failureOf(error)
    } finally {
      session.close()
    }
  }
}

/** A refusal may be unsigned. It is accepted, since believing it changes nothing. */
function verify(
  verifier: AnswerVerifier,
  bytes: Buffer,
  answer: ReturnType<typeof decodeMessage>,
  nowMs: number,
): void {
  const isSigned = answer.additionals.at(-1)?.type === TYPES.TSIG
  if (!isSigned && answer.rcode !== 0 && !PREREQUISITES.has(RCODES[answer.rcode] ?? '')) refuse(answer.rcode)
  verifier.verify(bytes, answer, nowMs)
}

function refuse(rcode: number): void {
  if (rcode === 0) return
  const name = RCODES[rcode] ?? `RCODE ${rcode}`
  throw new DnsFailure(PREREQUISITES.has(name) ? 'prerequisite' : 'refused', `it answers ${name}`)
}

function failureOf(error: unknown): DnsFailure {
  if (error instanceof DnsFailure) return error
  if (error instanceof TsigFailure) return new DnsFailure('refused', error.message)
  if (error instanceof MalformedDns) return new DnsFailure('refused', `it does not speak DNS: ${error.message}`)
  return new DnsFailure('unreachable', error instanceof Error ? error.message : String(error))
}
