import { clientHello } from './client-hello.ts'
import { type Answer, connectingCheck } from './connecting-check.ts'
import { timedOut } from './connector.ts'
import { refusedBy } from './tls-failure.ts'

/**
 * Length of the header of the first record and of its content: a whole alert, or the start of a handshake message. The
 * check reads no more, whatever a member sends.
 */
const FIRST_BYTES = 7

/**
 * Up when the endpoint answers a TLS ClientHello with a ServerHello. The handshake stops there, so no certificate is
 * read.
 */
export const tlsHelloCheck = connectingCheck('tls-hello', async ({ spec }) => ({
  send: await clientHello(),
  maxBytes: FIRST_BYTES,
  judge: (answer) => judgeHello(answer, spec.timeoutMs),
}))

/** RFC 8446 section 5.1. */
const RECORD = { alert: 21, handshake: 22 } as const
const SERVER_HELLO = 2

/** Why the answer is not a ServerHello; null if it is one. */
export function judgeHello({ received, end }: Pick<Answer, 'received' | 'end'>, timeoutMs: number): string | null {
  const [record, major, , , , message, alert] = received
  if (alert === undefined && end === 'timeout') return timedOut(timeoutMs)
  if (record === undefined) return end === 'reset' ? 'connection reset' : 'closed without an answer'
  if (major !== 3 || alert === undefined) return 'the answer is not TLS'
  if (record === RECORD.handshake && message === SERVER_HELLO) return null
  if (record === RECORD.alert) return refusedBy(alert)
  return 'the answer is not TLS'
}
