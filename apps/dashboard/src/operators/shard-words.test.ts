import { expect, it } from 'vitest'
import { moveText, partWord } from './shard-words.ts'

const move = { at: '2026-02-01T00:00:00Z', from: 'master', to: 'fault', reason: 'drained', silentMs: null } as const
const unhealthy = { ...move, reason: 'unhealthy: no carrier' } as const

it('shows the part of a drained node as drained, and that of others as it is', () => {
  const drained = { word: 'drained', tone: 'quiet' }
  expect(partWord({ state: 'fault', lastMove: move }, true)).toEqual(drained)
  // A backup that is drained moves nothing.
  expect(partWord({ state: 'fault', lastMove: null }, true)).toEqual(drained)
  expect(partWord({ state: 'fault', lastMove: unhealthy }, true)).toEqual({ word: 'fault', tone: 'bad' })
  expect(partWord({ state: 'fault', lastMove: null }, false)).toEqual({ word: 'fault', tone: 'bad' })
  expect(partWord({ state: 'master', lastMove: null }, true)).toEqual({ word: 'master', tone: 'ok' })
})

it('says what happened last', () => {
  expect(moveText({ state: 'fault', lastMove: move }, true)).toBe('master → drained')
  expect(moveText({ state: 'fault', lastMove: unhealthy }, true)).toBe('master → fault, unhealthy: no carrier')
  const taken = { ...move, from: 'backup', to: 'master', reason: 'vrrp' } as const
  expect(moveText({ state: 'master', lastMove: taken }, false)).toBe('backup → master, vrrp')
  expect(moveText({ state: 'backup', lastMove: null }, false)).toBe('–')
})
