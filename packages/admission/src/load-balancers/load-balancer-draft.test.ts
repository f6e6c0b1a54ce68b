import { randomUUID } from 'node:crypto'
import type { LoadBalancer, Pool } from '@spout/model'
import { atOnce } from '@spout/runtime'
import { memberOf, poolOf } from '@spout/testkit/model'
import { expect, test } from 'vitest'
import { parsingChange } from './load-balancer-draft.ts'

/** A pool as an earlier version took it: no new one may have so long a name. */
const before = poolOf(randomUUID(), [memberOf(randomUUID(), '10.0.0.1')], { name: 'n'.repeat(1000) })
const current = { listeners: [], pools: [before] } as unknown as LoadBalancer
const changed = (pool: Pool) => atOnce(parsingChange(current, { pools: [pool] }))

test('a pool that differs only in its members is not validated again', () => {
  const [member] = before.members
  const members = [{ ...member!, weight: 7 }]
  expect(changed({ ...before, members })).toEqual({ pools: [{ ...before, members }] })
})

test('its members are, and so is a pool that differs in anything else', () => {
  const [member] = before.members
  const refused = (pool: Partial<Pool>, field: string) =>
    expect(() => changed({ ...before, ...pool })).toThrow(
      expect.objectContaining({ params: expect.objectContaining({ field }) }),
    )
  refused({ members: [{ ...member!, weight: -1 }] }, 'pools[0].members[0].weight')
  refused({ members: [], description: 'another' }, 'pools[0].name')
  refused({ members: [], id: randomUUID() }, 'pools[0].name')
  refused({ members: [], colour: 'red' } as Partial<Pool>, 'pools[0].name')
  const { protocol: _, ...without } = before
  expect(() => changed({ ...without, members: [] } as unknown as Pool)).toThrow()
})
