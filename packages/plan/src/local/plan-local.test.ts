import { entryHash, isLocalKey, LOCAL_SHARD, type LocalLoadBalancer, MOST_SHARDS, network } from '@spout/model'
import { describe, expect, it } from 'vitest'
import { localProblems } from './local-problems.ts'
import { type LocalSettings, planLocal } from './plan-local.ts'

const NODES = ['192.0.2.11', '192.0.2.12', '192.0.2.13']

const apiServer: LocalLoadBalancer = {
  name: 'api-server',
  address: '192.0.2.10',
  port: 6443,
  members: NODES.map((address) => ({ address, port: 6443 })),
  check: { type: 'https', path: '/readyz', intervalMs: 250, timeoutMs: 1000, rise: 2, fall: 2 },
}

const settings = (fields: Partial<LocalSettings> = {}): LocalSettings => ({
  nodes: NODES,
  routerId: 255,
  profile: 'default',
  links: ['100.127.16.0/30'],
  loadBalancers: [apiServer],
  ...fields,
})

describe('planLocal', () => {
  it('gives every node what a control plane would', async () => {
    const plans = Object.fromEntries(planLocal(settings()))
    await expect(`${JSON.stringify(plans[NODES[0]!], null, 2)}\n`).toMatchFileSnapshot('testdata/api-server.json')
  })

  it('gives all nodes the same entries, and a shard of which the first is the first owner', () => {
    const plans = [...planLocal(settings()).values()]
    const hashes = plans.map(({ entries }) => entries.map(entryHash).join())
    expect(new Set(hashes).size).toBe(1)
    expect(plans.map(({ group }) => group.vrrp?.shards[0]?.priority)).toEqual([254, 253, 252])
    expect(plans[1]?.group.vrrp?.shards[0]?.apart).toMatchObject({
      source: '192.0.2.12',
      peers: ['192.0.2.11', '192.0.2.13'],
    })
  })

  it('uses keys and numbers that a control plane never gives out', () => {
    const [plan] = [...planLocal(settings()).values()]
    expect(plan?.entries.map(({ key }) => key)).toEqual(['domain/16000001', 'lb/local-api-server'])
    expect(plan?.entries.every(({ key }) => isLocalKey(key))).toBe(true)
    expect(isLocalKey('lb/00000000-0000-4000-8000-000000000001') || isLocalKey('domain/16000000')).toBe(false)
    expect(LOCAL_SHARD).toBeGreaterThan(MOST_SHARDS)
    const [domain] = plan!.entries
    expect(domain?.kind === 'domain' && network.shape.number.safeParse(domain.number).success).toBe(false)
    const segment = domain?.kind === 'domain' ? { ...domain.segment } : null
    expect(network.shape.segment.safeParse(segment).success).toBe(false)
  })

  it('gives pools of several load balancers different numbers', () => {
    const other = {
      ...apiServer,
      name: 'registry',
      port: 443,
      check: { ...apiServer.check, type: 'tcp', path: null },
    } as const
    const [plan] = [...planLocal(settings({ loadBalancers: [apiServer, other] })).values()]
    const numbers = plan?.entries.flatMap((entry) => (entry.kind === 'load-balancer' ? entry.pools : []))
    expect(numbers?.map(({ number }) => number)).toEqual([1, 2])
    expect(numbers?.map(({ check }) => check?.http?.path)).toEqual(['/readyz', undefined])
  })
})

describe('localProblems', () => {
  const problems = (fields: Partial<LocalSettings>): readonly string[] =>
    localProblems(settings(fields)).map(({ path, message }) => `${path.join('.')}: ${message}`)
  const balancer = (fields: Partial<LocalLoadBalancer>) => ({ loadBalancers: [{ ...apiServer, ...fields }] })
  const members = (...addresses: readonly string[]) => addresses.map((address) => ({ address, port: 6443 }))

  it('finds none in settings that are right, nor in those that name nothing', () => {
    expect(problems({})).toEqual([])
    expect(problems({ nodes: [], loadBalancers: [] })).toEqual([])
  })

  it.each<[string, Partial<LocalSettings>]>([
    ['nodes: is empty: name the fabric address', { nodes: [] }],
    ['nodes.1: 192.0.2.11 is named twice', { nodes: ['192.0.2.11', '192.0.2.11'] }],
    ['nodes.1: 2001:db8::1 is not IPv4 like 192.0.2.11', { nodes: ['192.0.2.11', '2001:db8::1'] }],
    ['links.0: fd73::/126 is not IPv4', { links: ['fd73::/126'] }],
    ['links.0: 100.127.16.0/31 has less than four addresses', { links: ['100.127.16.0/31'] }],
    ["loadBalancers.api-server.address: 192.0.2.11 is a node's own", balancer({ address: '192.0.2.11' })],
    ['loadBalancers.api-server.address: 192.0.2.10 is not reached, since local.links is empty', { links: [] }],
    ['loadBalancers.api-server.address: 2001:db8::10 is IPv6', balancer({ address: '2001:db8::10' })],
    [
      'loadBalancers.api-server.members.1: 192.0.2.11 is named twice',
      balancer({ members: members('192.0.2.11', '192.0.2.11') }),
    ],
    ['loadBalancers.api-server.members.0: 2001:db8::1 is not IPv4', balancer({ members: members('2001:db8::1') })],
    ['loadBalancers.api-server.members.0: 192.0.2.10 is the address of', balancer({ members: members('192.0.2.10') })],
    [
      'loadBalancers.api-server.members.0: 100.127.16.2 is in 100.127.16.0/30',
      balancer({ members: members('100.127.16.2') }),
    ],
    [
      "loadBalancers.two.port: 192.0.2.10 port 6443 is load balancer api-server's already",
      { loadBalancers: [apiServer, { ...apiServer, name: 'two' }] },
    ],
  ])('names the field and the reason: %s', (words, fields) => {
    expect(problems(fields)[0]).toContain(words)
  })
})
