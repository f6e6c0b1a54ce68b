import { type KnownNetwork, unreachableFamilies } from '@spout/connector'
import { describe, expect, test } from 'vitest'
import { endpoint, service, slice } from '../testing/objects.ts'
import { draftOf } from './draft.ts'

const net = (name: string, ...families: readonly (4 | 6)[]): KnownNetwork => ({ id: `id-${name}`, name, families })
const told = (families: readonly (4 | 6)[], ...networks: readonly KnownNetwork[]) =>
  [...unreachableFamilies(families, networks, 'spec.ipFamilies')].map(([family, { message }]) => [
    family,
    message.split(':')[0],
  ])

describe('families that no network can hold', () => {
  test.each<[string, readonly (4 | 6)[], readonly KnownNetwork[], unknown]>([
    ['one network with both', [4, 6], [net('a', 4, 6)], []],
    ['one without the second', [4, 6], [net('a', 4)], [[6, 'Network "a" has no IPv6 subnet']]],
    ['one without the first', [6, 4], [net('a', 4)], [[6, 'Network "a" has no IPv6 subnet']]],
    ['a network without a name', [6], [net('', 4)], [[6, 'Network "id-" has no IPv6 subnet']]],
    [
      'one network for each family: a load balancer is in one',
      [4, 6],
      [net('a', 4), net('b', 6)],
      [[6, 'Network "a" has no IPv6 subnet']],
    ],
    ['several, one of them with both', [4, 6], [net('a', 4), net('b', 4, 6)], []],
    [
      'many without',
      [6],
      ['a', 'b', 'c', 'd'].map((name) => net(name, 4)),
      [[6, 'None of the networks "a", "b", "c" (and 1 more) has an IPv6 subnet']],
    ],
    ['no network at all: the members say why', [4, 6], [], []],
  ])('%s', (_, families, networks, expected) => expect(told(families, ...networks)).toEqual(expected))

  test('their endpoints are not members, and a Service that does not require them says so', () => {
    const slices = [slice('web', [endpoint('10.1.0.1')]), slice('web', [endpoint('fd00::1')], { addressType: 'IPv6' })]
    const dual = service('web', { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' })
    const draft = draftOf(dual, { slices, nodes: [], mode: 'direct', networks: [net('a', 4)] })
    if ('refusal' in draft) throw new Error(draft.refusal.message)
    const [port] = draft.value.ports
    expect(port?.parts?.pool.members.map(({ address }) => address)).toEqual(['10.1.0.1'])
    expect(draft.value.notice).toMatchObject({ reason: 'NoSubnet', field: 'spec.ipFamilies' })
  })
})
