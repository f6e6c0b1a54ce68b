import type { LoadBalancer, Member } from '@spout/model'
import { listenerOf, loadBalancerOf, memberOf, poolOf } from '@spout/testkit/model'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { uid } from '../testing/objects.ts'
import { contentOf, type LoadBalancerContent } from './content.ts'
import { alikeParts, differenceTo } from './content-difference.ts'

interface Sides {
  readonly document: LoadBalancer
  readonly wanted: LoadBalancerContent
}

const member = (at: number, fields: Partial<Member> = {}): Member =>
  memberOf(uid(100 + at), `10.0.0.${10 + at}`, 80, fields)
const pools = [1, 2, 3].map((at) => poolOf(uid(at), [member(2 * at), member(2 * at + 1)], { name: `pool-${at}` }))
const DOCUMENT = loadBalancerOf(uid(9), {
  ...{ projectId: uid(8), networkId: null, vips: [], pools },
  listeners: [listenerOf(uid(7), 80, { defaultPoolId: uid(1) })],
})
const BEGIN: Sides = { document: DOCUMENT, wanted: contentOf(DOCUMENT) }

/** Changes of one pool, on one side or the other. The other pools stay the same objects. */
const change: fc.Arbitrary<(sides: Sides) => Sides> = fc
  .record({
    at: fc.nat(2),
    panicThreshold: fc.option(fc.constantFrom(0, 50), { nil: undefined }),
    members: fc.shuffledSubarray([1, 2, 3, 4].map((at) => member(at))),
    weight: fc.constantFrom(1, 2),
    side: fc.constantFrom('document', 'wanted', 'both'),
  })
  .map(({ at, panicThreshold, weight, side, ...put }) => ({ document, wanted }) => {
    const before = document.pools[at]!
    const members = put.members.map((one) => ({ ...one, weight }))
    const after = { ...before, members, panicThreshold: panicThreshold ?? before.panicThreshold }
    const changed = { ...document, pools: document.pools.with(at, after) }
    const content = contentOf(changed).pools[at]!
    return {
      document: side === 'wanted' ? document : changed,
      wanted: side === 'document' ? wanted : { ...wanted, pools: wanted.pools.with(at, content) },
    }
  })

test('whatever changes, a comparison that knows alike pools finds the same as one that does not', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12, size: 'max' }), (changes) => {
      const alike = alikeParts()
      let sides = BEGIN
      for (const step of [(same: Sides) => same, ...changes]) {
        sides = step(sides)
        expect(differenceTo(sides.document, sides.wanted, alike)).toEqual(differenceTo(sides.document, sides.wanted))
      }
    }),
  )
})

test('pools that were found alike are not looked at again', () => {
  const { document, wanted } = BEGIN
  const looked: string[] = []
  const watched = wanted.pools.map((pool) => ({
    ...pool,
    get members() {
      looked.push(pool.name)
      return pool.members
    },
  }))
  const alike = alikeParts()
  expect(differenceTo(document, { ...wanted, pools: watched }, alike)).toBe('same')
  expect(new Set(looked)).toEqual(new Set(['pool-1', 'pool-2', 'pool-3']))
  looked.length = 0
  const changed = { ...wanted.pools[1]!, members: [] }
  const remove = [4, 5].map((at) => ({ address: `10.0.0.${10 + at}`, port: 80 }))
  expect(differenceTo(document, { ...wanted, pools: watched.with(1, changed as never) }, alike)).toEqual([
    { poolId: uid(2), put: [], remove },
  ])
  expect(looked).toEqual([])
})
