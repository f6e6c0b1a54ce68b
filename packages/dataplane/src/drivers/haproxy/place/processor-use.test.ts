import type { CpuThrottling } from '@spout/sys'
import { expect, test } from 'vitest'
import { ProcessorUse } from './processor-use.ts'
import { proxyPlaceOf } from './proxy-place.ts'

function using() {
  const groups = new Map<string, CpuThrottling>()
  const use = new ProcessorUse({
    places: (number) => [proxyPlaceOf({ instance: 'ab' })({ number })],
    throttling: async (name) => groups.get(name) ?? null,
    processors: 0.5,
  })
  return { groups, use }
}

test('a domain without a proxy says nothing', async () => {
  expect(await using().use.read(7)).toEqual([])
})

test.each([
  ['more than a tenth of the periods', { periods: 110, throttled: 21 }, true],
  ['a tenth of them', { periods: 110, throttled: 20 }, false],
  ['nearly all of too few', { periods: 14, throttled: 14 }, false],
] as const)('held up in %s', async (_, now, isOver) => {
  const { groups, use } = using()
  groups.set('ab-d7', { periods: 10, throttled: 10 })
  expect(await use.read(7)).toMatchObject([{ share: 'processors', limit: 0.5, isOver: false }])
  groups.set('ab-d7', now)
  expect(await use.read(7)).toMatchObject([{ isOver, refused: now.throttled }])
})

test('a domain that was forgotten starts again', async () => {
  const { groups, use } = using()
  groups.set('ab-d7', { periods: 10, throttled: 10 })
  await use.read(7)
  use.forget(7)
  groups.set('ab-d7', { periods: 100, throttled: 100 })
  expect(await use.read(7)).toMatchObject([{ isOver: false }])
})
