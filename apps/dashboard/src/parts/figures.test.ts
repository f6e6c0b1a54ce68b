import { expect, it } from 'vitest'
import { byteFigure, shortFigure } from './figures.ts'

it('prints figures in few digits', () => {
  const shown = [0, 0.123, 7, 12.34, 99.6, 999, 999.6, 1240, 12_345, 1_000_000, 7.5e9].map((n) => shortFigure(n, 'en'))
  expect(shown).toEqual(['0', '0.12', '7', '12.3', '100', '999', '1 k', '1.24 k', '12.3 k', '1 M', '7.5 G'])
})

it('prints bytes', () => {
  expect(byteFigure(0, '/s', 'en')).toBe('0 B/s')
  expect(byteFigure(512, '', 'en')).toBe('512 B')
  expect(byteFigure(3_140_000, '/s', 'en')).toBe('3.14 MB/s')
})
