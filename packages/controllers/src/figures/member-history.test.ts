import type { MemberHealth } from '@spout/model'
import { expect, test } from 'vitest'
import { MemberHistory } from './member-history.ts'

const health = (loadBalancerId: string, second: number): MemberHealth => ({
  ...{ loadBalancerId, poolId: 'p', memberId: 'm', health: second % 2 === 0 ? 'up' : 'down', reason: null },
  since: new Date(second * 1000).toISOString(),
})

test('the last 100 transitions of a load balancer are kept', () => {
  const history = new MemberHistory()
  for (let second = 0; second < 150; second++) history.note('n1', health('l', second))
  expect(history.of('l')).toHaveLength(100)
  expect(history.of('l').at(-1)).toEqual({
    ...{
      at: new Date(149_000).toISOString(),
      nodeName: 'n1',
      poolId: 'p',
      memberId: 'm',
      health: 'down',
      reason: null,
    },
  })
  history.forget('l')
  expect(history.of('l')).toEqual([])
})

test('over all load balancers, those whose members changed last are kept', () => {
  const history = new MemberHistory()
  for (let n = 0; n < 600; n++) for (let second = 0; second < 100; second++) history.note('n1', health(`l${n}`, second))
  expect(history.of('l599')).toHaveLength(100)
  expect(history.of('l100')).toHaveLength(100)
  expect(history.of('l99')).toEqual([])
})
