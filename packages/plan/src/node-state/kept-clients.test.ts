import type { Pool } from '@spout/model'
import { expect, test } from 'vitest'
import { listener, loadBalancer, member, pool } from '../testing/documents.ts'
import { planPool } from './node-pool.ts'

const planned = (persistence: Pool['persistence']) => {
  const one = pool(0x2000, [member(0x3000)], { persistence })
  const { node } = planPool(
    loadBalancer(0x1000, { listeners: [listener(0x1001, 80, { defaultPoolId: one.id })], pools: [one] }),
    one,
    1,
    null,
    () => null,
  )
  return { affinity: node?.sourceAffinity, keepSeconds: node?.keepSeconds }
}

test('nodes are told the time-out of an affinity by source, and only that', () => {
  expect(planned({ type: 'source-ip', timeoutSeconds: 600 })).toEqual({ affinity: true, keepSeconds: 600 })
  expect(planned({ type: 'source-ip', timeoutSeconds: null })).toEqual({ affinity: true, keepSeconds: undefined })
  expect(planned(null)).toEqual({ affinity: false, keepSeconds: undefined })
})
