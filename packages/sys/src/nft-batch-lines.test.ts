import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NftChange } from './helper-protocol/nftables.ts'
import { CHANGES_PER_LINE, ELEMENT_BYTES_PER_LINE, nftBatchLines } from './nft-batch-lines.ts'

interface LineFields {
  readonly part: number
  readonly more: boolean
  readonly changes: readonly {
    readonly do: string
    readonly set: string
    readonly key?: number
    readonly elements?: string
  }[]
}

const table = { family: 'ip', table: 't' } as const
const linesOf = (changes: readonly NftChange[]) => [...nftBatchLines({ ...table, changes })]
const fieldsOf = (line: { readonly fields: object }) => line.fields as LineFields

/** A change of `records` records with different contents. */
const change = (index: number, keyBytes: number, records: number): NftChange => {
  const elements = Buffer.alloc(keyBytes * records)
  for (let i = 0; i < records; i++) elements.writeUInt32LE(i, i * keyBytes)
  return { do: 'add', set: `s${index}`, keyBytes, elements }
}

const changes = fc
  .array(fc.tuple(fc.integer({ min: 4, max: 64 }), fc.constantFrom(1, 2, 7, 10_000, 40_000)), { maxLength: 6 })
  .map((sizes) => sizes.map(([keyBytes, records], index) => change(index, keyBytes, records)))

test('cuts without loss, in order, within bounds, and finds every record again', () => {
  fc.assert(
    fc.property(changes, (all) => {
      const lines = linesOf(all)
      const regained = all.map(() => [] as Buffer[])
      let helperIndex = 0
      for (const [part, line] of lines.entries()) {
        const fields = fieldsOf(line)
        expect(fields).toMatchObject({ ...table, part, more: part < lines.length - 1 })
        expect(line.last).toBe(part === lines.length - 1)
        for (const piece of fields.changes) {
          const bytes = Buffer.from(piece.elements!, 'base64')
          expect(bytes.length).toBeLessThanOrEqual(ELEMENT_BYTES_PER_LINE)
          const at = line.locate(helperIndex++, 0)
          expect(piece.set).toBe(`s${at.index}`)
          expect(bytes.readUInt32LE(0)).toBe(at.element)
          regained[at.index]!.push(bytes)
        }
      }
      for (const [index, original] of all.entries())
        expect(original.do !== 'flush' && Buffer.concat(regained[index]!).equals(original.elements)).toBe(true)
    }),
    { numRuns: 40 },
  )
})

test('an empty batch is one line without changes', () => {
  expect(linesOf([]).map(fieldsOf)).toEqual([{ ...table, changes: [], part: 0, more: false }])
})

test('bounds the number of changes on a line', () => {
  const many = Array.from({ length: CHANGES_PER_LINE + 1 }, (_, index) => change(index, 4, 1))
  expect(linesOf(many).map((line) => fieldsOf(line).changes.length)).toEqual([CHANGES_PER_LINE, 1])
})

test('commands come once, ahead of all changes', () => {
  const changes = [change(0, 4, 40_000)]
  const texts = [...nftBatchLines({ ...table, text: 'add table ip t', changes })].map(({ fields }) => fields)
  expect(texts.map((fields) => (fields as { text?: string }).text)).toEqual([
    'add table ip t',
    ...texts.slice(1).map(() => undefined),
  ])
  expect(texts.length).toBeGreaterThan(1)
})

test('counts key, end of range, value and limit into a record', () => {
  const batch = (elements: Uint8Array) =>
    nftBatchLines({
      ...table,
      changes: [{ do: 'add', set: 's', keyBytes: 8, dataBytes: 4, interval: true, expr: 'count-over', elements }],
    })
  expect([...batch(new Uint8Array(48))]).toHaveLength(1)
  expect(() => batch(new Uint8Array(47))).toThrow(/set s: 47 bytes are not a whole number of 24-byte records/)
})
