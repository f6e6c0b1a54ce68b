import { expect, test } from 'vitest'
import { namedClass } from './load-balancer-class.ts'

test.each([
  ['spout.dev/gold', 'gold'],
  ['spout.dev/load-balancer', undefined],
  ['spout.dev/load-balancers', 'load-balancers'],
  ['spout.dev/', undefined],
  ['spout.dev', undefined],
  ['metallb.io/gold', undefined],
  ['spout.developer/gold', undefined],
  ['', undefined],
  [undefined, undefined],
] as const)('%s names class %s', (name, wanted) => {
  expect(namedClass(name, 'spout.dev/load-balancer')).toBe(wanted)
})

test('the domain is that of our own name', () => {
  expect(namedClass('lb.example.org/gold', 'lb.example.org/main')).toBe('gold')
  expect(namedClass('spout.dev/gold', 'lb.example.org/main')).toBeUndefined()
})
