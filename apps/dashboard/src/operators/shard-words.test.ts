import { expect, it } from 'vitest'
import { moveText, partWord } from './shard-words.ts'

const move = { at: '2026-02-01T00:00:00Z', from: 'master', to: 'fault', reason: 'drained', silentMs: null } as const

it('shows the part of a drained node as drained, and that of others as it is', () => {
  expect(partWord({ state: 'fault', lastMove: move })).toEqual({ word: 'drained', tone: 'quiet' })
  expect(partWord({ state: 'fault', lastMove: { ...move, reason: 'unhealthy' } })).toEqual({
    word: 'fault',
    tone: 'bad',
  })
  expect(partWord({ state: 'master', lastMove: null })).toEqual({ word: 'master', tone: 'ok' })
})

it('says what happened last', () => {
  expect(moveText({ state: 'fault', lastMove: move })).toBe('master → drained')
  expect(moveText({ state: 'fault', lastMove: { ...move, reason: 'unhealthy' } })).toBe('master → fault, unhealthy')
  expect(moveText({ state: 'master', lastMove: { ...move, from: 'backup', to: 'master', reason: 'vrrp' } })).toBe(
    'backup → master, vrrp',
  )
  expect(moveText({ state: 'backup', lastMove: null })).toBe('–')
})
