import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineSplitter } from './ndjson.ts'

test('however the bytes are cut, the lines are the same', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((line) => !line.includes('\n'))
  fc.assert(
    fc.property(fc.array(text), fc.infiniteStream(fc.integer({ min: 1, max: 7 })), (lines, sizes) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
      const splitter = new LineSplitter()
      const found: string[] = []
      for (let at = 0; at < bytes.length; ) {
        const size = sizes.next().value as number
        found.push(...splitter.push(bytes.subarray(at, at + size)))
        at += size
      }
      expect(found).toEqual(lines)
    }),
  )
})

test('a line without end is refused before it fills the memory', () => {
  const splitter = new LineSplitter()
  const chunk = Buffer.alloc(8 * 1024 * 1024, 0x61)
  expect(() => {
    for (let count = 0; count < 20; count++) splitter.push(chunk)
  }).toThrow('longer than')
})
