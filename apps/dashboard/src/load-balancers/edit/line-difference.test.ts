import { expect, it } from 'vitest'
import { lineDifference } from './line-difference.ts'

const shown = (before: string, after: string): string =>
  lineDifference(before, after)
    .map(({ sign, text }) => `${sign}${text}`)
    .join('\n')

it('shows what differs, with the lines around it', () => {
  expect(shown('a\nb\nc\nd\ne\nf', 'a\nb\nc\nd\nX\nf')).toBe(' b\n c\n d\n-e\n+X\n f')
  expect(shown('a\nb\nc', 'a\nx\nb\ny\nc')).toBe(' a\n+x\n b\n+y\n c')
  expect(shown('a\nb', 'b')).toBe('-a\n b')
  expect(shown('a\nb\nc', 'a\nb\nc')).toBe('')
})

it('gives both texts back, whatever they are', () => {
  const texts = ['', 'a', 'a\nb\na\nb', 'b\na\nb\na', 'x\na\ny\nb\nz', 'a\n\n\nb']
  for (const before of texts)
    for (const after of texts) {
      const lines = lineDifference(`${before}\n`, `${after}\n`)
      if (before === after) expect(lines).toEqual([])
      const kept = (sign: string): number => lines.filter((line) => line.sign === sign).length
      const count = (text: string): number => text.split('\n').length
      expect(kept('+') - kept('-')).toBe(count(after) - count(before))
    }
})

it('shows long changes as a whole', () => {
  const long = (sign: string): string => Array.from({ length: 2000 }, (_, at) => `${sign}${at}`).join('\n')
  expect(lineDifference(long('a'), long('b'))).toHaveLength(4000)
})
