import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeMessage, encodeMessage, type Message } from './message.ts'
import { MalformedDns, readName, writeName } from './names.ts'
import { addressOf, dataOfAddress, dataOfText, textOf } from './record-data.ts'

const label = fc
  .array(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 20 })
  .map((bytes) => readName(Buffer.from([bytes.length, ...bytes, 0]), 0).name)
const name = fc.array(label, { maxLength: 6 }).map((labels) => labels.join('.'))
const number = (bits: number) => fc.integer({ min: 0, max: 2 ** bits - 1 })
const question = fc.record({ name, type: number(16), class: number(16) })
const record = fc.record({
  ...{ name, type: number(16), class: number(16), ttl: number(32) },
  data: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
})
const records = fc.array(record, { maxLength: 4 })
const message: fc.Arbitrary<Message> = fc.record({
  ...{ id: number(16), isAnswer: fc.boolean(), opcode: number(4), rcode: number(4) },
  questions: fc.array(question, { maxLength: 2 }),
  ...{ answers: records, authorities: records, additionals: records },
})

test('what is written is read back', () => {
  fc.assert(
    fc.property(message, (given) => {
      const { lastRecordAt: _, ...read } = decodeMessage(encodeMessage(given))
      expect(read).toEqual(given)
    }),
  )
})

test('whatever bytes come, they are read or refused as malformed', () => {
  const mutated = fc.tuple(message, fc.nat(), number(8), fc.nat()).map(([given, at, byte, end]) => {
    const bytes = encodeMessage(given)
    bytes[at % bytes.length] = byte
    return bytes.subarray(0, end % (bytes.length + 1))
  })
  const random = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes))
  fc.assert(
    fc.property(fc.oneof(mutated, random), (bytes) => {
      try {
        expect(decodeMessage(bytes).questions).toBeInstanceOf(Array)
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedDns)
      }
    }),
  )
})

test('names point to earlier ones, and not in a circle', () => {
  const bytes = Buffer.from('\x03org\x00\x07Example\xc0\x00\x03web\xc0\x05', 'latin1')
  expect(readName(bytes, 15)).toEqual({ name: 'web.example.org', next: 21 })
  expect(() => readName(Buffer.from([0xc0, 0]), 0)).toThrow('points in a circle')
})

test.each([
  ['a..b', 'has not 1 to 63 bytes'],
  ['x'.repeat(64), 'has not 1 to 63 bytes'],
  [`${'x'.repeat(60)}.`.repeat(5).slice(0, -1), 'longer than 255 bytes'],
])('%s is no name', (text, reason) => expect(() => writeName(text)).toThrow(reason))

test('addresses and texts are read back', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.string({ unit: 'grapheme', maxLength: 600 }), (address, text) => {
      const { type, data } = dataOfAddress(address)
      const again = addressOf({ type: type === 'A' ? 1 : 28, data })
      expect(dataOfAddress(again)).toEqual({ type, data })
      expect(textOf({ data: dataOfText(text) })).toBe(text)
    }),
  )
})
