import type { Network, Pool } from '@spout/model'
import { memberOf, poolOf } from '@spout/testkit/model'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { network } from '../testing/documents.ts'
import { findingNetwork } from './found-network.ts'
import { atOnce } from './member-network.ts'
import { type ResolveContext, resolveLoadBalancer } from './resolve.ts'

const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** Two networks of one project. Both have 10.0.1.0/24. */
const NETWORKS: readonly Network[] = [
  withSubnets(network(1), '10.0.0.0/24', '10.0.1.0/24'),
  withSubnets(network(2), '10.0.1.0/24', '10.0.2.0/24'),
]

function withSubnets(one: Network, ...cidrs: string[]): Network {
  const [like] = one.subnets
  return {
    ...one,
    subnets: cidrs.map((cidr, at) => ({ ...like!, id: id(10 * one.number + at), cidr, gatewayIp: null })),
  }
}

const contextOf = (currentNetworkId: string | null, seen: string[] = []): ResolveContext => ({
  currentNetworkId,
  networks: NETWORKS,
  useOfCertificate: () => null,
  forbidden: () => null,
  occupant: (_, address) => {
    seen.push(address)
    return address.endsWith('.9') ? 'a VIP' : null
  },
})

const documentOf = (pools: readonly Pool[]) => ({ listeners: [], pools: [...pools], vips: [] })

/** Members in the first network, in the second, in both, or in none. */
const members = fc.uniqueArray(
  fc.record({ net: fc.nat(3), host: fc.integer({ min: 7, max: 12 }), port: fc.integer({ min: 80, max: 81 }) }),
  { maxLength: 6, selector: ({ net, host, port }) => `${net} ${host} ${port}` },
)

test('what is known of a resolved version makes no difference, whatever changes', () => {
  fc.assert(
    fc.property(members, members, fc.nat(6), fc.option(fc.constantFrom(1, 2)), (some, others, kept, vip) => {
      let number = 100
      const made = (ones: typeof some) =>
        ones.map(({ net, host, port }) => memberOf(id(number++), `10.0.${net}.${host}`, port))
      const before = documentOf([poolOf(id(3), made(some))])
      const first = resolveLoadBalancer(before, contextOf(null))
      fc.pre(!('problem' in first) && first.network !== null)
      const stay = before.pools[0]!.members.slice(0, kept)
      const vips = vip === null ? [] : [{ networkId: NETWORKS[vip - 1]!.id }]
      const after = { ...documentOf([poolOf(id(3), [...made(others), ...stay])]), vips }
      const context = contextOf(first.network.id)
      expect(resolveLoadBalancer(after, { ...context, resolved: before })).toEqual(resolveLoadBalancer(after, context))
    }),
  )
})

test('what was found for the members makes no difference, and holds for these alone', () => {
  fc.assert(
    fc.property(members, members, fc.option(fc.constantFrom(1, 2)), (some, others, vip) => {
      let number = 100
      const made = (ones: typeof some) =>
        documentOf([
          poolOf(
            id(3),
            ones.map(({ net, host, port }) => memberOf(id(number++), `10.0.${net}.${host}`, port)),
          ),
        ])
      const document = made(some)
      const context = contextOf(null)
      const found = atOnce(findingNetwork(document, null, context))
      const vips = vip === null ? [] : [{ networkId: NETWORKS[vip - 1]!.id }]
      for (const one of [document, { ...document, vips }, made(others)])
        expect(resolveLoadBalancer(one, { ...context, found })).toEqual(resolveLoadBalancer(one, context))
    }),
  )
})

test('members whose network was found are not looked up again', () => {
  const document = documentOf([poolOf(id(3), [memberOf(id(100), '10.0.0.10'), memberOf(id(101), '10.0.0.11')])])
  const found = atOnce(findingNetwork(document, null, contextOf(null)))
  const seen: string[] = []
  const resolution = resolveLoadBalancer({ ...document }, { ...contextOf(null, seen), found })
  expect(resolution).toMatchObject({ network: { id: NETWORKS[0]!.id } })
  expect(seen).toEqual([])
})

test('a change of one of many members looks at that one', () => {
  const many = Array.from({ length: 200 }, (_, n) => memberOf(id(100 + n), `10.0.0.${10 + n}`))
  const before = documentOf([poolOf(id(3), many), poolOf(id(4), [memberOf(id(600), '10.0.0.9')])])
  const seen: string[] = []
  const context = { ...contextOf(NETWORKS[0]!.id, seen), resolved: before }
  const [one, other] = before.pools
  const next = { ...one!, members: one!.members.with(7, memberOf(id(500), '10.0.0.250')) }
  expect(resolveLoadBalancer(documentOf([next, other!]), context)).toMatchObject({ network: { id: NETWORKS[0]!.id } })
  expect(seen).toEqual(['10.0.0.250'])
})
