import { execFileSync } from 'node:child_process'
import type { DomainEntry, LoadBalancerEntry, NodeMember, NodePool, Service } from '@spout/model/node-state'
import { editSlots } from '@spout/plan'
import { describe, expect, it } from 'vitest'
import type { WantedEntry } from '../../driver.ts'
import { describe as describeRendered } from './describe.ts'
import { render } from './render.ts'
import { renderSkeleton } from './skeleton.ts'

const domain: DomainEntry = {
  kind: 'domain',
  version: 1,
  key: 'domain/7',
  number: 7,
  networkId: '00000000-0000-4000-8000-000000000007',
  segment: { physicalNetwork: 'physnet1', vlan: null },
  returnPath: 'gateway',
  subnets: [{ cidr: '10.0.0.0/24', nodeAddress: '10.0.0.250', gatewayIp: '10.0.0.1' }],
  holdsGateway: true,
}

const member = (id: string, address: string, fields: Partial<NodeMember> = {}): NodeMember => ({
  id,
  address,
  port: 8080,
  weight: 1,
  backup: false,
  checkAddress: address,
  checkPort: 8080,
  ...fields,
})

function pool(number: number, members: readonly NodeMember[], fields: Partial<NodePool> = {}): NodePool {
  const assigned = editSlots(null, members)
  return {
    id: `pool-${number}`,
    number,
    mode: 'l4',
    algorithm: 'round-robin',
    sourceAffinity: false,
    proxyProtocol: 'none',
    members: assigned.members.map((id) => members.find((each) => each.id === id) ?? null),
    slots: assigned.slots,
    check: null,
    panicThreshold: 0,
    ...fields,
  }
}

const service = (id: string, port: number, pool: number | null, fields: Partial<Service> = {}): Service => ({
  id,
  protocol: 'tcp',
  port,
  pool,
  connectionLimit: null,
  allowedCidrs: null,
  timeouts: { clientMs: 50_000, connectMs: 5_000, memberMs: 50_000 },
  insertHeaders: [],
  ...fields,
})

function wanted(
  fields: Partial<LoadBalancerEntry>,
  beside: Partial<Pick<WantedEntry, 'domain' | 'down'>> = {},
): WantedEntry {
  const entry: LoadBalancerEntry = {
    kind: 'load-balancer',
    version: 1,
    key: 'lb/a',
    id: 'a',
    generation: 1,
    domain: 7,
    vips: [{ address: '203.0.113.10', scope: 'fabric', announce: true }],
    services: [],
    pools: [],
    ...fields,
  }
  return { key: entry.key, hash: 'hash', domain, entry, down: new Set(), ...beside }
}

const two = [member('m1', '10.0.0.11'), member('m2', '10.0.0.12', { weight: 3 })]

const cases: Record<string, WantedEntry> = {
  tcp: wanted({ services: [service('l1', 80, 5)], pools: [pool(5, two)] }),
  'tcp-snat': wanted(
    { services: [service('l1', 80, 5)], pools: [pool(5, two)] },
    { domain: { ...domain, returnPath: 'snat', holdsGateway: false } },
  ),
  'udp-affinity-one-down': wanted(
    { services: [service('l1', 53, 5, { protocol: 'udp' })], pools: [pool(5, two, { sourceAffinity: true })] },
    { down: new Set(['m2']) },
  ),
  'all-down': wanted({ services: [service('l1', 80, 5)], pools: [pool(5, two)] }, { down: new Set(['m1', 'm2']) }),
  'no-pool': wanted({ services: [service('l1', 80, null)] }),
  'dual-stack-mixed-members': wanted({
    vips: [
      { address: '203.0.113.10', scope: 'fabric', announce: true },
      { address: '2001:db8::10', scope: 'fabric', announce: true },
      { address: '10.0.0.100', scope: 'tenant', announce: true },
    ],
    services: [service('l1', 443, 9)],
    pools: [pool(9, [member('m1', '10.0.0.11'), member('m2', 'fd01::12')])],
  }),
  'limits-and-sources': wanted({
    vips: [
      { address: '203.0.113.10', scope: 'fabric', announce: true },
      { address: '2001:db8::10', scope: 'fabric', announce: true },
    ],
    services: [
      service('l1', 80, 5, {
        connectionLimit: 100,
        allowedCidrs: ['198.51.100.0/24', '198.51.100.7/32', '192.0.2.1/32', '2001:db8:1::/48'],
      }),
      service('l2', 81, 5, { allowedCidrs: [] }),
    ],
    pools: [pool(5, two)],
  }),
  proxied: wanted({
    services: [service('l7', 80, 5, { protocol: 'http', connectionLimit: 10 })],
    pools: [pool(5, two, { mode: 'http', slots: null })],
  }),
}

const findFrontDoor = (id: string) =>
  id === 'l7' ? { address4: '240.0.0.15', address6: 'fd73:706f:7574::f', port: 20001 } : null

describe('render', () => {
  it.each(Object.keys(cases))('%s', async (name) => {
    await expect(describeRendered(render(cases[name]!, findFrontDoor))).toMatchFileSnapshot(`testdata/${name}.txt`)
  })

  it('gives the same bytes for the same entry and others for another health', () => {
    const entry = cases['tcp']!
    const [first, second] = [entry, structuredClone(entry)].map((each) => render(each, findFrontDoor))
    expect(first?.records.equals(second!.records)).toBe(true)
    expect(first?.digest).toBe(second?.digest)
    expect(render({ ...entry, down: new Set(['m1']) }, findFrontDoor).digest).not.toBe(
      render(entry, findFrontDoor).digest,
    )
  })

  it('packs a member record as the kernel lays it out', () => {
    const records = render(cases['tcp']!, findFrontDoor).records.get('member4')
    const [first, second, third, fourth] = [0, 4, 8, 12].map((at) => records?.subarray(at, at + 4).toString('hex'))
    expect([first, second]).toEqual(['05000000', '00000000'])
    expect(third).toMatch(/^0a00000[bc]$/)
    expect(fourth).toBe('1f900000')
  })
})

describe('skeleton', () => {
  it('is what the golden says', async () => {
    await expect(renderSkeleton().text).toMatchFileSnapshot('testdata/skeleton.nft')
  })

  it.runIf(process.getuid?.() === 0)('is accepted by nft', () => {
    execFileSync('unshare', ['--net', 'nft', '--check', '--file', '-'], { input: renderSkeleton().text })
  })
})
