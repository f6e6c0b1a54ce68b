import { expect, it } from 'vitest'
import { piecesOf } from './code-pieces.ts'

it('code stands between backticks', () => {
  expect(piecesOf('`a` of group `b | c`.')).toEqual([
    { isCode: true, text: 'a' },
    { isCode: false, text: ' of group ' },
    { isCode: true, text: 'b | c' },
    { isCode: false, text: '.' },
  ])
})
