import { expect, it } from 'vitest'
import { inNameOrder } from './name-order.ts'

it('orders names as people count', () => {
  expect(inNameOrder(['node10', 'node2', 'a'], (name) => name)).toEqual(['a', 'node2', 'node10'])
})
