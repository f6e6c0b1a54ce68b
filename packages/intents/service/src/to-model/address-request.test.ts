import { chooseAddresses, isAsRequested } from '@spout/connector'
import { describe, expect, test } from 'vitest'
import { service } from '../testing/objects.ts'
import { ADDRESS_FIELDS, addressRequestOf } from './address-request.ts'

const dual = { ipFamilies: ['IPv4', 'IPv6'] } as const
const requestOf = (spec: object, annotations: Record<string, string> = {}) =>
  addressRequestOf(service('a', spec, { annotations }))
const requested = (...args: Parameters<typeof requestOf>) => {
  const request = requestOf(...args)
  if ('refusal' in request) throw new Error(request.refusal.message)
  return request.value
}

describe('the addresses that a Service requests', () => {
  test.each([
    ['nothing said', {}, {}, [[4, true, null]], null],
    ['loadBalancerIP', { loadBalancerIP: '198.51.100.7' }, {}, [[4, true, '198.51.100.7']], null],
    ['annotation', {}, { 'spout.dev/load-balancer-ips': '198.51.100.7' }, [[4, true, '198.51.100.7']], null],
    ["MetalLB's annotation", {}, { 'metallb.io/loadBalancerIPs': '198.51.100.7' }, [[4, true, '198.51.100.7']], null],
    [
      'one of each family',
      { ...dual, ipFamilyPolicy: 'PreferDualStack' },
      { 'spout.dev/load-balancer-ips': '2001:db8:0::7, 198.51.100.7' },
      [
        [4, true, '198.51.100.7'],
        [6, true, '2001:db8::7'],
      ],
      null,
    ],
    [
      'prefer dual stack: the second is optional',
      { ...dual, ipFamilyPolicy: 'PreferDualStack' },
      {},
      [
        [4, true, null],
        [6, false, null],
      ],
      null,
    ],
    [
      'require dual stack, IPv6 first',
      { ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'RequireDualStack' },
      {},
      [
        [6, true, null],
        [4, true, null],
      ],
      null,
    ],
    ['pools', {}, { 'metallb.io/address-pool': 'public, other,public' }, [[4, true, null]], ['public', 'other']],
    ['older object without families', { ipFamilies: undefined, clusterIP: '2001:db8::1' }, {}, [[6, true, null]], null],
  ] as const)('%s', (_, spec, annotations, families, pools) => {
    const request = requested(spec, annotations)
    expect(request.families.map(({ family, required, address }) => [family, required, address])).toEqual(families)
    expect(request.pools).toEqual(pools)
  })

  test.each([
    [
      'both ways',
      { loadBalancerIP: '198.51.100.7' },
      { 'spout.dev/load-balancer-ips': '198.51.100.7' },
      'InvalidAddress',
    ],
    ['no address', { loadBalancerIP: '198.51.100.07' }, {}, 'InvalidAddress'],
    ['hostile text', {}, { 'spout.dev/load-balancer-ips': '1.2.3.4\n; rm -rf /' }, 'InvalidAddress'],
    ['wrong family', { loadBalancerIP: '2001:db8::7' }, {}, 'AddressFamilyMismatch'],
    ['two of one family', {}, { 'spout.dev/load-balancer-ips': '198.51.100.7,198.51.100.8' }, 'InvalidAddress'],
    [
      'two annotations that differ',
      {},
      { 'spout.dev/load-balancer-ips': '198.51.100.7', 'metallb.io/loadBalancerIPs': '198.51.100.8' },
      'InvalidAnnotation',
    ],
  ])('refused: %s', (_, spec, annotations, reason) => {
    expect(requestOf(spec, annotations)).toMatchObject({ refusal: { reason } })
  })
})

const pools = [
  { id: 'p1', name: 'public', ranges: [{ first: '198.51.100.1', last: '198.51.100.9' }] },
  { id: 'p2', name: 'other', ranges: [{ first: '203.0.113.1', last: '203.0.113.9' }] },
  { id: 'p6', name: 'six', ranges: [{ first: '2001:db8::1', last: '2001:db8::ff' }] },
]

describe('where an address may come from', () => {
  const choose = (spec: object, annotations = {}, defaults: readonly string[] = [], shown: readonly string[] = []) => {
    const chosen = chooseAddresses(requested(spec, annotations), pools, defaults, shown, ADDRESS_FIELDS)
    return 'refusal' in chosen
      ? chosen.refusal.reason
      : chosen.value.map(({ candidates }) => candidates.map(({ poolId, address }) => `${poolId}${address ?? ''}`))
  }

  test.each([
    ['any pool of the family, by name', {}, {}, [], [], [['p2', 'p1']]],
    ['the default pools', {}, {}, ['public'], [], [['p1']]],
    ['a named pool', {}, { 'spout.dev/address-pool': 'other' }, ['public'], [], [['p2']]],
    ['an address in any pool', { loadBalancerIP: '203.0.113.5' }, {}, ['public'], [], [['p2203.0.113.5']]],
    ['what it showed before comes first', {}, {}, [], ['198.51.100.3'], [['p1198.51.100.3', 'p2', 'p1']]],
    ['what it showed is not ours to give', {}, {}, [], ['192.0.2.1'], [['p2', 'p1']]],
    ['both families', { ...dual, ipFamilyPolicy: 'RequireDualStack' }, {}, [], [], [['p2', 'p1'], ['p6']]],
    [
      'the optional family has no pool',
      { ...dual, ipFamilyPolicy: 'PreferDualStack' },
      { 'spout.dev/address-pool': 'public' },
      [],
      [],
      [['p1']],
    ],
    ['unknown pool', {}, { 'spout.dev/address-pool': 'nobodys' }, [], [], 'PoolNotFound'],
    ['address outside', { loadBalancerIP: '192.0.2.1' }, {}, [], [], 'AddressNotInPool'],
    [
      'address in another pool',
      { loadBalancerIP: '203.0.113.5' },
      { 'spout.dev/address-pool': 'public' },
      [],
      [],
      'AddressNotInPool',
    ],
    [
      'a required family has no pool',
      { ...dual, ipFamilyPolicy: 'RequireDualStack' },
      { 'spout.dev/address-pool': 'public' },
      [],
      [],
      'NoAddressPool',
    ],
  ] as const)('%s', (_, spec, annotations, defaults, shown, wanted) => {
    expect(choose(spec, annotations, defaults, shown)).toEqual(wanted)
  })

  test('a held address is kept over everything but another request', () => {
    const held = { address: '198.51.100.3', poolId: 'p1' }
    expect(isAsRequested(held, requested({}), pools)).toBe(true)
    expect(isAsRequested(held, requested({ loadBalancerIP: '198.51.100.3' }), pools)).toBe(true)
    expect(isAsRequested(held, requested({ loadBalancerIP: '198.51.100.4' }), pools)).toBe(false)
    expect(isAsRequested(held, requested({}, { 'spout.dev/address-pool': 'other' }), pools)).toBe(false)
    expect(
      isAsRequested({ ...held, poolId: 'gone' }, requested({}, { 'spout.dev/address-pool': 'other' }), pools),
    ).toBe(true)
    expect(isAsRequested(held, requested({ ipFamilies: ['IPv6'] }), pools)).toBe(false)
  })
})
