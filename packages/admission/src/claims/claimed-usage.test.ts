import { NO_USAGE, type Usage } from '@spout/plan'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ClaimedUsage } from './claimed-usage.ts'

const keys = ['loadBalancer/a', 'loadBalancer/b', 'address/c']
const projects = ['shop', 'neighbour']
const usage = fc.record({ pools: fc.nat(3), bytes: fc.nat(9) }).map((some): Usage => ({ ...NO_USAGE, ...some }))
const step = fc.oneof(
  fc.record({
    what: fc.constant('hold' as const),
    projectId: fc.constantFrom(...projects),
    key: fc.constantFrom(...keys),
    usage,
  }),
  fc.record({ what: fc.constant('count' as const), key: fc.constantFrom(...keys), usage }),
  fc.record({ what: fc.constant('end' as const), at: fc.nat() }),
)

test('a sum is what all that is held uses beyond what is counted, whatever happened before', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const counted = new Map<string, Usage>()
      const countedFor = (key: string): Usage => counted.get(key) ?? NO_USAGE
      const claimed = new ClaimedUsage(countedFor)
      let held: {
        readonly projectId: string
        readonly key: string
        readonly usage: Usage
        readonly end: () => void
      }[] = []
      for (const one of steps) {
        if (one.what === 'hold') held.push({ ...one, end: claimed.hold(one.projectId, one) })
        if (one.what === 'count') {
          counted.set(one.key, one.usage)
          claimed.recount(one.key)
        }
        const ending = one.what === 'end' ? held[one.at % Math.max(1, held.length)] : undefined
        ending?.end()
        held = held.filter((each) => each !== ending)
        for (const projectId of projects)
          for (const resource of ['pools', 'bytes'] as const)
            expect(claimed.of(projectId, resource)).toBe(
              held
                .filter((each) => each.projectId === projectId)
                .reduce((sum, each) => sum + Math.max(0, each.usage[resource] - countedFor(each.key)[resource]), 0),
            )
      }
    }),
  )
})
