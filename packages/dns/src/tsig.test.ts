import { describe, expect, test } from 'vitest'
import { CLASSES, decodeMessage, encodeMessage, OPCODES, TYPES } from './message.ts'
import { AnswerVerifier, sign, type TsigKey } from './tsig.ts'

const NOW = Date.parse('2026-11-26T12:00:00Z')
const KEY: TsigKey = { name: 'spout', algorithm: 'hmac-sha256', secret: Buffer.from('a secret of the two') }
const message = (id: number) =>
  encodeMessage({
    ...{ id, isAnswer: true, opcode: OPCODES.QUERY, rcode: 0 },
    questions: [{ name: 'example.org', type: TYPES.SOA, class: CLASSES.IN }],
    ...{ answers: [], authorities: [], additionals: [] },
  })
/** With nothing signed before it, an answer is signed as a request is. */
const verifier = () => new AnswerVerifier(KEY, Buffer.alloc(0))

describe('an answer is refused', () => {
  test.each([
    [
      'when a byte differs',
      (bytes: Buffer) => Buffer.from(bytes).fill(0x21, 3, 4),
      NOW,
      'the signature of the answer is wrong',
    ],
    ['without a signature', () => message(7), NOW, 'the answer is not signed'],
  ])('%s', (_name, change, nowMs, reason) => {
    const bytes = change(sign(message(7), KEY, NOW).bytes)
    expect(() => verifier().verify(bytes, decodeMessage(bytes), nowMs)).toThrow(reason)
  })

  test('that another key signed', () => {
    const { bytes } = sign(message(7), { ...KEY, name: 'other' }, NOW)
    expect(() => verifier().verify(bytes, decodeMessage(bytes), NOW)).toThrow('signed with another key')
  })
})

test('a signature is of the size of its hash, and the last record', () => {
  for (const [algorithm, size] of [
    ['hmac-sha256', 32],
    ['hmac-sha512', 64],
  ] as const) {
    const { bytes, mac } = sign(message(7), { ...KEY, algorithm }, NOW)
    expect(mac).toHaveLength(size)
    expect(decodeMessage(bytes).additionals).toMatchObject([{ name: 'spout', type: TYPES.TSIG, class: CLASSES.ANY }])
  }
})
