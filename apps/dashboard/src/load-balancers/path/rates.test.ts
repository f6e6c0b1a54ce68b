import { expect, it } from 'vitest'
import { ratesBetween } from './rates.ts'
import { listener } from './testing/explanation.ts'

const reading = (totals: Readonly<Record<string, number | null>>) => ({
  listeners: Object.entries(totals).map(([id, total]) =>
    listener(id, {
      stats:
        total === null
          ? null
          : {
              ...{
                loadBalancerId: 'lb',
                listenerId: id,
                bytesIn: 0,
                bytesOut: 0,
                activeConnections: 0,
                requestErrors: 0,
              },
              totalConnections: total,
            },
    }),
  ),
})

it('tells rates from two readings', () => {
  const rates = ratesBetween(reading({ a: 10, b: 5, c: null, d: 9 }), reading({ a: 40, b: 5, c: 7, d: 2, e: 3 }), 3)
  expect([...rates]).toEqual([
    ['a', '10/s'],
    ['b', '0/s'],
  ])
})
