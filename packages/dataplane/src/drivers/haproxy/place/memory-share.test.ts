import type { MemoryUse } from '@spout/sys'
import { expect, test } from 'vitest'
import { ShareWatch } from '../../../domain/shares/share-watch.ts'
import { memoryShare } from './memory-share.ts'
import { proxyPlaceOf } from './proxy-place.ts'

const log = { debug: () => {}, info: () => {}, warn: () => {} }

function watched() {
  const groups = new Map<string, MemoryUse>()
  const places = (number: number) => [proxyPlaceOf({ instance: 'ab' })({ number })]
  const source = memoryShare({ places, memory: async (name) => groups.get(name) ?? null })
  const watch = new ShareWatch({ domains: () => [7], sources: [source], log, now: () => 0 })
  return { groups, watch }
}

test('a domain without a proxy says nothing', async () => {
  const { watch } = watched()
  expect(await watch.look()).toEqual([])
  expect(watch.figures()).toEqual({})
})

test.each([
  ['less than 95 %', 949, []],
  ['95 %', 950, [{ domain: 7, share: 'memory', limit: 1000, refused: false }]],
] as const)('a proxy that has %s of its memory', async (_, usedBytes, told) => {
  const { groups, watch } = watched()
  groups.set('ab-d7', { usedBytes, limitBytes: 1000, oomKills: 0 })
  expect(await watch.look()).toEqual(told)
  expect(watch.figures().memory).toEqual({ refused: 0, mostUsed: usedBytes / 1000, over: told.length })
})

test('a killed proxy is reported, however little memory the next one uses', async () => {
  const { groups, watch } = watched()
  groups.set('ab-d7', { usedBytes: 960, limitBytes: 1000, oomKills: 4 })
  await watch.look()
  groups.set('ab-d7', { usedBytes: 50, limitBytes: 1000, oomKills: 5 })
  expect(await watch.look()).toEqual([{ domain: 7, share: 'memory', limit: 1000, refused: true }])
  expect(watch.figures().memory).toEqual({ refused: 1, mostUsed: 0.05, over: 1 })
})
