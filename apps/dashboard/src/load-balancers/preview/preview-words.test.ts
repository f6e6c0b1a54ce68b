import type { ConnectionFate } from '@spout/model'
import { expect, it } from 'vitest'
import { addressWords, placeOf, verdictOf } from './preview-words.ts'

const fate = (kind: ConnectionFate['fate']): ConnectionFate => ({
  ...{ fate: kind, code: 'MembersLeave', message: '', listenerId: null, poolId: null },
  ...{ afterSeconds: null, memberCount: 0, members: [] },
})

it.each([
  [[], 'ok'],
  [['stay'], 'ok'],
  [['drain', 'stay'], 'warn'],
  [['drain', 'may-end'], 'warn'],
  [['end', 'drain'], 'bad'],
] as const)('the worst of %j says how it is: %s', (kinds, tone) => {
  expect(verdictOf({ connections: kinds.map(fate) }).tone).toBe(tone)
})

it('says when an address is free for others', () => {
  const change = { address: '198.51.100.7', change: 'released' } as const
  expect(addressWords({ ...change, restSeconds: 60 })).toBe('is released, and free for others in 60 s')
  expect(addressWords({ ...change, restSeconds: 0 })).toContain('at once')
})

it('names parts as the change names them', () => {
  const part = { part: 'pool', id: 'p', name: 'web', change: 'changed' } as const
  const parts = [{ ...part, fields: [], memberChanges: 1, members: [], slots: null }]
  expect(placeOf({ listenerId: 'l', poolId: 'p' }, { parts })).toEqual([
    { what: 'listener', id: 'l', name: '' },
    { what: 'pool', id: 'p', name: 'web' },
  ])
})
