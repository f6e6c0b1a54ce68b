import { expect, test } from 'vitest'
import { compareVersions } from './version-order.ts'

test('versions are in the order of their numbers, each after its candidates', () => {
  const order = ['0.1.0-rc.1', '0.1.0-rc.2', '0.1.0', '0.2.0', '0.10.0', '1.0.0-rc.1', '1.0.0', '1.0.1']
  const shuffled = order.toReversed()
  expect(shuffled.toSorted((a, b) => compareVersions(a, b) ?? Number.NaN)).toEqual(order)
  expect(compareVersions('1.2.3', '1.2.3')).toBe(0)
  expect(compareVersions('1.2.3+build', '1.2.3')).toBe(0)
})

test.each(['', '1.2', 'v1.2.3', '1.2.3.4', 'latest'])('%j is no version', (text) => {
  expect(compareVersions(text, '1.2.3')).toBeNull()
  expect(compareVersions('1.2.3', text)).toBeNull()
})
