import type { LoadBalancer } from '@spout/model'
import { describe, expect, it } from 'vitest'
import { isAlike, weightedAt, weightLines, withWeights } from './weighted.ts'

const member = (id: string, more: object = {}): object => ({
  ...{ id, name: '', address: '10.0.0.11', port: 80, weight: 1, enabled: true, backup: false },
  ...more,
})
const document = {
  listeners: [
    {
      id: 'l',
      routes: [
        { id: 'moved', action: { type: 'redirect', code: 301 } },
        {
          id: 'canary',
          action: {
            type: 'forward',
            pools: [
              { poolId: 'p', weight: 9 },
              { poolId: 'q', weight: 1, filters: [] },
            ],
          },
        },
      ],
    },
  ],
  pools: [
    { id: 'p', name: 'web', members: [] },
    {
      id: 'q',
      name: '',
      members: [
        member('a', { name: 'one', weight: 3 }),
        member('b', { address: '2001:db8::1' }),
        member('c', { backup: true }),
        member('d', { enabled: false }),
      ],
    },
  ],
} as unknown as Pick<LoadBalancer, 'listeners' | 'pools'>

const ROUTE = { of: 'route', listenerId: 'l', routeId: 'canary' } as const
const POOL = { of: 'pool', poolId: 'q' } as const

describe('weightedAt', () => {
  it('are the pools of a route, and the members of a pool that get a share', () => {
    expect(weightedAt(document, ROUTE)).toEqual([
      { id: 'p', name: 'web', weight: 9 },
      { id: 'q', name: 'q', weight: 1 },
    ])
    expect(weightedAt(document, POOL)).toEqual([
      { id: 'a', name: 'one', weight: 3 },
      { id: 'b', name: '[2001:db8::1]:80', weight: 1 },
    ])
  })

  it('are none where the place is gone, or sends to no pool', () => {
    expect(weightedAt(document, { ...ROUTE, routeId: 'moved' })).toEqual([])
    expect(weightedAt(document, { ...ROUTE, listenerId: 'none' })).toEqual([])
    expect(weightedAt(document, { of: 'pool', poolId: 'none' })).toEqual([])
  })
})

describe('withWeights', () => {
  it('changes the weights of one place, and nothing else', () => {
    for (const place of [ROUTE, POOL]) {
      const before = weightedAt(document, place)
      const weights = new Map(before.map(({ id }, at) => [id, 40 + at]))
      const after = withWeights(document, place, weights)
      expect(weightedAt(after, place)).toEqual(before.map((one, at) => ({ ...one, weight: 40 + at })))
      const back = new Map(before.map(({ id, weight }) => [id, weight]))
      expect(withWeights(after, place, back)).toEqual(document)
    }
  })

  it('leaves a place that is gone', () => {
    expect(withWeights(document, { ...ROUTE, routeId: 'moved' }, new Map([['p', 1]]))).toEqual(document)
  })
})

it('isAlike does not look at names', () => {
  const [one, two] = [weightedAt(document, ROUTE), weightedAt(document, POOL)]
  expect(
    isAlike(
      one,
      one.map((each) => ({ ...each, name: 'other' })),
    ),
  ).toBe(true)
  expect(
    isAlike(
      one,
      one.map((each) => ({ ...each, weight: 2 })),
    ),
  ).toBe(false)
  expect(isAlike(one, one.toReversed())).toBe(false)
  expect(isAlike(one, two)).toBe(false)
  expect(isAlike(one, one.slice(1))).toBe(false)
  expect(weightLines(one)).toBe('web: weight 9\nq: weight 1')
})
