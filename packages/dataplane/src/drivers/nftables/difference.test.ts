import fc from 'fast-check'
import { expect, test } from 'vitest'
import { difference } from './difference.ts'
import { recordBytes, SETS } from './sets.ts'

const SHAPE = SETS.member4
const SIZE = recordBytes(SHAPE)
const pack = (records: readonly (readonly [key: number, value: number])[]): Buffer =>
  Buffer.concat(
    records.map(([key, value]) => {
      const bytes = Buffer.alloc(SIZE)
      bytes.writeUInt32BE(7)
      bytes.writeUInt32BE(key, 4)
      bytes.writeUInt32BE(value, 8)
      return bytes
    }),
  )
const unpack = (bytes: Buffer, size: number): number[] =>
  Array.from({ length: bytes.length / size }, (_, at) => bytes.readUInt32BE(at * size + 4))

test('of a table with the same slots: the changed ones', () => {
  const table = Array.from({ length: 4096 }, (_, slot) => [slot, slot % 100] as const)
  const { deletes, adds } = difference(SHAPE, pack(table), pack(table.with(77, [77, 9]).with(4095, [4095, 9])))
  expect(unpack(deletes, SHAPE.keyBytes)).toEqual([77, 4095])
  expect(adds).toEqual(
    pack([
      [77, 9],
      [4095, 9],
    ]),
  )
})

test('property: deleting and adding turns one into the other, and touches nothing else', () => {
  const records = fc.uniqueArray(fc.tuple(fc.nat(30), fc.nat(3)), { selector: ([key]) => key })
  fc.assert(
    fc.property(records, records, (before, after) => {
      const { deletes, adds } = difference(SHAPE, pack(before), pack(after))
      const left = new Map(before)
      for (const key of unpack(deletes, SHAPE.keyBytes)) expect(left.delete(key)).toBe(true)
      const kept = new Set(left.keys())
      for (let at = 0; at < adds.length; at += SIZE) {
        expect(left.has(adds.readUInt32BE(at + 4))).toBe(false)
        left.set(adds.readUInt32BE(at + 4), adds.readUInt32BE(at + 8))
      }
      expect(left).toEqual(new Map(after))
      const same = new Set(after.filter(([key, value]) => new Map(before).get(key) === value).map(([key]) => key))
      expect(kept).toEqual(same)
    }),
  )
})
