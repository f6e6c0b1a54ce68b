import { describe, expect, it } from 'vitest'
import { network as networkOf } from '../testing/documents.ts'
import { planDomains } from './plan-domains.ts'
import { type HostingNode, planHosts } from './plan-hosts.ts'

const node = (name: string, fabricAddress: string | null): HostingNode => ({ id: `id-${name}`, name, fabricAddress })
const routes = [
  { to: '10.244.1.0/24', via: '100.127.0.1', node: 'a' },
  { to: '10.244.2.0/24', via: '100.127.0.1', node: 'b' },
  { to: '10.244.9.0/24', via: '100.127.0.1', node: 'elsewhere' },
]
const network = { number: 7, routes }

describe('which node hosts which members', () => {
  it('is the same on every node, and each knows the others', () => {
    const hosts = planHosts(network, [node('a', '10.9.0.1'), node('b', '10.9.0.2')])
    const [a, b] = [hosts.get('id-a')!, hosts.get('id-b')!]
    expect(a).toMatchObject({ vni: 7, address: '10.9.0.1', peers: [{ number: b.own, address: '10.9.0.2' }] })
    expect(b).toMatchObject({ vni: 7, address: '10.9.0.2', peers: [{ number: a.own, address: '10.9.0.1' }] })
    expect(a.prefixes).toEqual([
      { to: '10.244.1.0/24', host: a.own },
      { to: '10.244.2.0/24', host: b.own },
    ])
    expect(b.prefixes).toEqual(a.prefixes)
  })

  it('a node keeps its number when others come and go', () => {
    const many = Array.from({ length: 200 }, (_, at) => node(`n${at}`, `10.9.1.${at}`))
    const all = planHosts(network, many)
    const few = planHosts(network, many.slice(50, 60))
    for (const [id, { own }] of few) expect(own).toBe(all.get(id)?.own)
    const numbers = new Set([...all.values()].map(({ own }) => own))
    expect(numbers.size).toBe(many.length)
    for (const number of numbers) expect(number > 0 && number < 2 ** 28 && number % 16 === 0).toBe(true)
  })

  it('a node whose address is unknown, or of the other family, reaches no other and is not reached', () => {
    const hosts = planHosts(network, [node('a', '10.9.0.1'), node('b', null), node('c', 'fd09::3')])
    for (const { peers } of hosts.values()) expect(peers).toEqual([])
    expect(hosts.get('id-b')?.address).toBeNull()
  })
})

describe('the domain of a network with return path node', () => {
  it('says who hosts what, and its routes are as those of other return paths', () => {
    const hosts = [node('a', '10.9.0.1'), node('b', '10.9.0.2')]
    const use = { groupIds: ['group'], holder: null, hasInnerProxy: false, untracked: false, hosts }
    const nodes = hosts.map(({ id }) => ({ id, nodeGroupId: 'group', addresses: new Map<string, string>() }))
    const domains = planDomains(networkOf(7, { returnPath: 'node', routes, subnets: [] }), use, nodes, new Map())
    expect(domains.get('id-b')).toMatchObject({
      returnPath: 'node',
      routes: routes.map(({ to, via }) => ({ to, via })),
      hosts: { address: '10.9.0.2', peers: [{ address: '10.9.0.1' }] },
    })
    expect(domains.get('id-b')?.routes?.[0]).not.toHaveProperty('node')
  })
})
