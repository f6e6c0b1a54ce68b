import { expect, it } from 'vitest'
import { piecesOf } from './code-pieces.ts'

const pairs = (text: string) => piecesOf(text).map((piece) => [piece.is, piece.text])

it('code stands between backticks', () => {
  expect(pairs('`a` of group `b | c`.')).toEqual([
    ['code', 'a'],
    ['text', ' of group '],
    ['code', 'b | c'],
    ['text', '.'],
  ])
})

it('finds times in plain text', () => {
  expect(pairs('It has not reported since 2026-11-30T01:20:03.004Z.')).toEqual([
    ['text', 'It has not reported since '],
    ['time', '2026-11-30T01:20:03.004Z'],
    ['text', '.'],
  ])
  expect(pairs('`2026-11-30T01:20:03Z`')).toEqual([['code', '2026-11-30T01:20:03Z']])
})

it('takes what is no time for text', () => {
  expect(pairs('2026-13-41T99:99:99Z')).toEqual([['text', '2026-13-41T99:99:99Z']])
})
