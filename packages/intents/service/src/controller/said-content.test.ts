import { Refused } from '@spout/client/native-api'
import { LeftOut, type LoadBalancerContent, type ShownLoadBalancer } from '@spout/connector'
import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, test } from 'vitest'
import { endpoint, service, slice } from '../testing/objects.ts'
import { draftOf, groupContent } from '../to-model/draft.ts'
import type { AddressGroupContext } from './address-group.ts'
import { withoutRefused } from './said-content.ts'

const draft = draftOf(service('web'), { slices: [slice('web', [endpoint('10.1.0.1')])], nodes: [], mode: 'direct' })
const content = 'value' in draft ? groupContent([{ draft: draft.value, taken: new Set() }], 'c') : null

test('a member that is refused while routes change is not left out: the answer is of before', async () => {
  const leftOut = new LeftOut(new FakeClock(), 30_000)
  const context = { leftOut, known: { answered: () => {} } } as unknown as AddressGroupContext
  const said: number[] = []
  await withoutRefused(context, 'lb', content!, async ({ pools }: LoadBalancerContent) => {
    said.push(pools[0]?.members.length ?? 0)
    if (said.length === 1) {
      // The routes come while the answer is on its way.
      leftOut.forgetAll()
      throw new Refused('MemberOutsideNetworks', 'm', 'pools[0].members[0].address')
    }
    return {} as ShownLoadBalancer
  })
  expect(said).toEqual([1, 1])
  expect(leftOut.has('lb')).toBe(false)
})
