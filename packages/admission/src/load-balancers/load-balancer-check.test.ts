import type { LoadBalancer } from '@spout/model'
import { expect, test } from 'vitest'
import { listenerOf } from '../testing/office.ts'
import { mattersToNodes } from './load-balancer-check.ts'

test('a named value inside a listener makes a new generation, the name of the listener makes none', () => {
  /** A match as layer-7 routes will have it: `name` is of the header that is looked at. */
  const withMatch = (header: string, fields: { readonly name?: string } = {}) => {
    const matches = [{ name: header, value: 'blue' }]
    const listener = listenerOf('5f0c8a52-0000-4000-8000-000000000001', 80, fields)
    return { enabled: true, vips: [], listeners: [{ ...listener, matches }], pools: [] } as unknown as LoadBalancer
  }
  expect(mattersToNodes(withMatch('x-tenant'), withMatch('x-user'))).toBe(true)
  expect(mattersToNodes(withMatch('x-tenant'), withMatch('x-tenant', { name: 'shop' }))).toBe(false)
})
