import { expect, test } from 'vitest'
import { forwardAction } from './http-route.ts'

const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const forward = { type: 'forward', pools: [{ poolId: id(1) }] }
const parse = (mirrors: unknown) => forwardAction.safeParse({ ...forward, mirrors })

test('mirrors get all requests unless they say a share, in steps of a ten-thousandth of a per cent', () => {
  expect(
    parse([{ poolId: id(2) }, { poolId: id(3), percent: 100 / 3 }, { poolId: id(1), percent: 0 }]).data,
  ).toMatchObject({
    mirrors: [
      { poolId: id(2), percent: 100 },
      { poolId: id(3), percent: 33.3333 },
      { poolId: id(1), percent: 0 },
    ],
  })
  expect(forwardAction.parse(forward)).not.toHaveProperty('mirrors')
})

test.each([
  [[], 'mirrors'],
  [[{ poolId: id(2) }, { poolId: id(2), percent: 1 }], 'names a pool twice'],
  [[{ poolId: id(2), percent: -1 }], 'percent'],
  [[{ poolId: id(2), percent: 100.1 }], 'percent'],
  [[{ poolId: id(2), percent: '5' }], 'percent'],
  [[{ poolId: 'http://10.0.0.1/' }], 'poolId'],
  [[{ poolId: id(2), address: '10.0.0.1' }], 'address'],
  [Array.from({ length: 5 }, (_, at) => ({ poolId: id(at) })), 'mirrors'],
])('refused: %j', (mirrors, word) => {
  const { success, error } = parse(mirrors)
  expect(success).toBe(false)
  expect(JSON.stringify(error?.issues)).toContain(word)
})
