import type { ConnectionFate } from '@spout/model'
import { expect, it } from 'vitest'
import { addressWords, announcesWords, verdictOf } from './preview-words.ts'

const fate = (kind: ConnectionFate['fate']): ConnectionFate => ({
  ...{ fate: kind, code: 'MembersLeave', message: '', listener: null, pool: null },
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

it('says of nodes that elect their master no more than that', () => {
  const announces = { before: false, after: true }
  expect(announcesWords({ announces }, true)).toBe('Announces it while elected')
  expect(announcesWords({ announces }, false)).toBe('Begins to announce it')
  expect(announcesWords({ announces: { before: true, after: false } }, true)).toBe('No longer announces it')
})

it('says when an address is free for others', () => {
  const change = { address: '198.51.100.7', change: 'released' } as const
  expect(addressWords({ ...change, restSeconds: 60 })).toBe('is released, and free for others in 1 minute')
  expect(addressWords({ ...change, restSeconds: 0 })).toContain('at once')
})
