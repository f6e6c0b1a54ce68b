import { expect, test } from 'vitest'
import { type Listed, leftoversOf } from './leaks-of.ts'

type Address = Listed['addresses'][number]
const address = (
  portId: string,
  use: Address['use'],
  ownerId: string | null,
  fields: Partial<Address> = {},
): Address => ({
  ...{ portId, use, ownerId, name: '', address: `addr-${portId}`, projectId: 'shop', quarantineUntil: null },
  ...fields,
})

const reasons = (addresses: readonly Address[]) =>
  leftoversOf({ loadBalancers: [{ id: 'lb', listeners: [], pools: [] }], addresses, certificates: [] }).map(
    ({ id, kind, reason, leaks }) => [id, kind, reason, leaks],
  )

test('what something uses, what the system has and what is in quarantine is not left', () => {
  expect(
    reasons([
      ...[address('v', 'vip', 'lb'), address('p', 'port', 'lb'), address('f', 'floating', 'v')],
      ...[address('n', 'node', 'node-1'), address('g', 'gateway', null)],
      address('q', 'vip', 'gone', { quarantineUntil: '2026-01-01T00:00:00.000Z' }),
    ]),
  ).toEqual([])
})

test('an address is left when its owner is gone, or when it has none', () => {
  expect(
    reasons([
      ...[address('v', 'vip', 'gone'), address('p', 'port', null), address('o', 'port', 'gone')],
      ...[address('f', 'floating', null), address('t', 'floating', 'gone')],
    ]),
  ).toEqual([
    ['v', 'vip', 'its load balancer gone is gone', true],
    ['p', 'port', 'no load balancer uses it', true],
    ['o', 'port', 'its load balancer gone is gone', true],
    ['f', 'floating-ip', 'it is bound to no port', true],
    ['t', 'floating-ip', 'its port gone is gone', true],
  ])
})
