import { execFileSync } from 'node:child_process'
import { LOCAL_DOMAIN, LOCAL_SEGMENT } from '@spout/model/local-entries'
import type { DomainEntry } from '@spout/model/node-state'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { renderIngressSteering } from '../steering/ingress-steering.ts'
import { checkDomainConfig, type DomainConfig } from './domain-config.ts'
import { layOutDomain } from './domain-layout.ts'
import { domainNames } from './domain-names.ts'
import { renderFormerTables } from './former-tables.ts'
import { renderGuard as renderGuardWith } from './guard.ts'
import { type NetworkShares, networkShares } from './shares/network-shares.ts'
import { renderShares } from './shares/shares-table.ts'
import { renderRootGuard } from './steering-rules.ts'

const shares: NetworkShares = { packetsPerSecond: 500_000, bytesPerSecond: 5_000_000_000, newFlowsPerSecond: 40_000 }

const config: DomainConfig = {
  instance: 'ab1',
  fabricInterface: 'eth0',
  segments: { physnet1: 'eth1' },
  protectedCidrs: ['10.250.0.0/16', 'fd55::/32'],
  shares,
}

const renderGuard = (domain: DomainEntry, protectedCidrs?: readonly string[]) =>
  renderGuardWith(domain, shares, protectedCidrs)

const gateway: DomainEntry = {
  kind: 'domain',
  version: 1,
  key: 'domain/7',
  number: 7,
  networkId: 'network',
  segment: { physicalNetwork: 'physnet1', vlan: 12 },
  returnPath: 'gateway',
  subnets: [
    { cidr: '10.0.0.0/24', nodeAddress: '10.0.0.250', gatewayIp: '10.0.0.1', sharedAddress: null },
    { cidr: '10.0.1.0/24', nodeAddress: '10.0.1.250', gatewayIp: null, sharedAddress: null },
    { cidr: 'fd01::/64', nodeAddress: 'fd01::250', gatewayIp: 'fd01::1', sharedAddress: null },
  ],
  gateway: { via: 'l2' },
}
const snat: DomainEntry = { ...gateway, returnPath: 'snat', gateway: null }
const shared: DomainEntry = {
  ...snat,
  subnets: snat.subnets.map((subnet, index) => ({
    ...subnet,
    sharedAddress: ['10.0.0.249', null, 'fd01::249'][index] ?? null,
  })),
  gateway: { via: 'vrrp', shard: 1 },
}
const routes = [
  { to: '10.244.3.0/24', via: '10.0.0.21' },
  { to: 'fd44:3::/64', via: 'fd01::21' },
]
const routed: DomainEntry = { ...gateway, routes }
const routedSnat: DomainEntry = { ...snat, routes }
const hosted: DomainEntry = { ...routedSnat, segment: { physicalNetwork: 'cluster', vlan: null } }
const hosting: DomainConfig = { ...config, hostSegments: ['cluster'] }
const local: DomainConfig = {
  ...config,
  local: { addresses: ['192.0.2.10'], memberPorts: [6443, 443] },
}
const atMembers: DomainEntry = {
  ...hosted,
  returnPath: 'node',
  hosts: {
    vni: 7,
    own: 11,
    address: '192.0.2.1',
    peers: [{ number: 12, address: '192.0.2.2' }],
    prefixes: [
      { to: '10.244.3.0/24', host: 11 },
      { to: '10.244.4.0/24', host: 12 },
    ],
  },
}
const untracked: DomainEntry = { ...gateway, untracked: true }
const dsr: DomainEntry = { ...snat, returnPath: 'dsr' }
const tunnel: DomainEntry = {
  ...dsr,
  tunnel: {
    vni: 7,
    subnets: [
      { cidr: '10.8.0.0/16', via: '10.0.0.1' },
      { cidr: 'fd08::/48', via: 'fd01::1' },
    ],
  },
}

describe('layout', () => {
  it.each(Object.entries({ gateway, snat, untracked, dsr, 'dsr-tunnel': tunnel, routed, 'routed-snat': routedSnat }))(
    'of return path %s',
    async (name, entry) => {
      const { guard, ...layout } = layOutDomain(config, entry)
      await expect(`${JSON.stringify(layout, null, 2)}\n`).toMatchFileSnapshot(`testdata/layout-${name}.json`)
      await expect(guard.text).toMatchFileSnapshot(`testdata/guard-${name}.nft`)
    },
  )

  it('connects a network of the node itself to root, which is the router', () => {
    expect(layOutDomain(hosting, hosted).segment).toEqual({
      hostLink: 'ab1h7',
      hostAddresses: [
        { address: '10.0.0.1', prefix: 24 },
        { address: 'fd01::1', prefix: 64 },
      ],
    })
    expect(() => layOutDomain(hosting, { ...hosted, returnPath: 'gateway' })).toThrow('need return path snat')
    expect(() => layOutDomain(config, hosted)).toThrow('no interface for physical network cluster')
  })

  it("connects the network of the node's own settings to root, and protects no prefix from it", () => {
    const own: DomainEntry = {
      ...routedSnat,
      ...{ key: 'domain/16000001', number: LOCAL_DOMAIN, segment: { physicalNetwork: LOCAL_SEGMENT, vlan: null } },
    }
    const layout = layOutDomain({ ...local, protectedCidrs: ['192.0.2.0/24'] }, own)
    expect(layout.segment).toMatchObject({ hostLink: 'ab1h16000001' })
    expect(layout.guard.text).toBe(layOutDomain(local, own).guard.text)
  })

  it('lets members see the address that the nodes share, which the announcer binds', async () => {
    const { guard, ...layout } = layOutDomain(config, shared)
    await expect(guard.text).toMatchFileSnapshot('testdata/guard-snat-shared.nft')
    expect({ ...layout, guard: null }).toEqual({ ...layOutDomain(config, snat), guard: null, seesWholeFlows: false })
  })

  it('sees all packets of flows whose members answer it, on a host segment whatever address the nodes share', () => {
    const seen = (domain: DomainEntry, at = config) => layOutDomain(at, domain).seesWholeFlows
    expect([snat, shared, gateway].map((domain) => seen(domain))).toEqual([true, false, false])
    const hosted = { ...shared, segment: atMembers.segment }
    expect(seen(hosted, hosting)).toBe(true)
    expect(layOutDomain(hosting, hosted).guard).toEqual(
      layOutDomain(hosting, { ...hosted, subnets: snat.subnets }).guard,
    )
  })

  it('of return path node has a tunnel to the other nodes, and a way back for answers', async () => {
    const { guard, hosts, segment } = layOutDomain(hosting, atMembers)
    const { table, ...rest } = hosts!
    await expect(guard.text).toMatchFileSnapshot('testdata/guard-node.nft')
    await expect(table.text).toMatchFileSnapshot('testdata/hosts.nft')
    await expect(`${JSON.stringify({ segment, ...rest }, null, 2)}\n`).toMatchFileSnapshot('testdata/layout-node.json')
    expect(() => layOutDomain(config, { ...atMembers, segment: gateway.segment })).toThrow('hostSegments')
    const alone = layOutDomain(hosting, { ...atMembers, hosts: { ...atMembers.hosts!, address: null, peers: [] } })
    expect(alone.hosts).toMatchObject({ end: null, neighbours: [], formers: [] })
  })

  it('of return path node leads connections on to former nodes, unless nothing is tracked', async () => {
    const tables = renderFormerTables([16, 0x12_3450], 5)
    await expect(tables.map(({ text }) => text).join('')).toMatchFileSnapshot('testdata/former.nft')
    expect(renderFormerTables([], 5)).toEqual([])
    expect(layOutDomain(hosting, atMembers).hosts?.formers).toEqual([12])
    expect(layOutDomain(hosting, { ...atMembers, untracked: true }).hosts?.formers).toEqual([])
  })

  it('says which physical network the node lacks', () => {
    const elsewhere = { ...gateway, segment: { physicalNetwork: 'toString', vlan: null } }
    expect(() => layOutDomain(config, elsewhere)).toThrow('no interface for physical network toString')
  })
})

describe('names', () => {
  it('fit into the kernel and differ for all numbers', () => {
    const numbers = fc.tuple(fc.integer({ min: 1, max: 16_000_000 }), fc.integer({ min: 1, max: 16_000_000 }))
    fc.assert(
      fc.property(numbers, ([one, other]) => {
        const [a, b] = [one, other].map((number) => domainNames({ instance: 'abcdef' }, number))
        expect(a!.rootLink.length).toBeLessThanOrEqual(15)
        const all = [a!.root, a!.domain, b!.root, b!.domain].flatMap(({ ipv4, ipv6 }) => [ipv4, ipv6])
        expect(new Set(all).size).toBe(one === other ? 4 : 8)
      }),
    )
  })

  it.each(['', 'Ab', 'toolong', 'a-b', '1a'])('refuse instance %j', (instance) => {
    expect(() => checkDomainConfig({ ...config, instance })).toThrow(RangeError)
  })
})

describe('ingress steering', () => {
  it('as a table', async () => {
    await expect(renderIngressSteering(config, 3).text).toMatchFileSnapshot('testdata/ingress-steering.nft')
  })

  it('is another table for another fabric interface', () => {
    expect(renderIngressSteering(config, 3).mark).not.toBe(renderIngressSteering(config, 4).mark)
  })
})

describe('shares', () => {
  const links = { uplink: 2, segment: 3 }

  it('as a table', async () => {
    await expect(renderShares(shares, links).text).toMatchFileSnapshot('testdata/shares.nft')
  })

  it('are another table for other shares, and for interfaces that were made anew', () => {
    const { mark } = renderShares(shares, links)
    expect(renderShares({ ...shares, bytesPerSecond: 1_000 }, links).mark).not.toBe(mark)
    expect(renderShares(shares, { ...links, segment: 4 }).mark).not.toBe(mark)
  })

  it.runIf(process.getuid?.() === 0)('are accepted by nft, the least and the most of them', () => {
    const most = { packetsPerProcessor: 100_000_000, newFlowsPerProcessor: 10_000_000, megabytesPerSecond: 16_000 }
    const least = { packetsPerProcessor: 1_000, newFlowsPerProcessor: 10, megabytesPerSecond: 1 }
    for (const some of [shares, networkShares(most, 1_024), networkShares(least, 1)]) {
      const text = `${renderShares(some, links).text}${renderGuardWith(gateway, some).text}`
      const made = 'ip link add uplink type veth peer name segment && nft --file -'
      execFileSync('unshare', ['--net', 'sh', '-c', made], { input: text })
    }
  })
})

describe('guards', () => {
  it('of the root namespace', async () => {
    await expect(renderRootGuard(config).text).toMatchFileSnapshot('testdata/guard-root.nft')
    await expect(renderRootGuard(local).text).toMatchFileSnapshot('testdata/guard-root-local.nft')
    await expect(renderRootGuard(hosting).text).toMatchFileSnapshot('testdata/guard-root-hosting.nft')
    const both = { ...local, hostSegments: ['cluster'] }
    await expect(renderRootGuard(both).text).toMatchFileSnapshot('testdata/guard-root-hosting-local.nft')
  })

  it.runIf(process.getuid?.() === 0)('are accepted by nft', () => {
    const guards = [gateway, snat, shared, untracked, dsr, routed, routedSnat, atMembers].map(
      (domain) => renderGuard(domain).text,
    )
    guards.push(layOutDomain(hosting, atMembers).hosts?.table.text ?? '')
    for (const text of [...guards, ...[config, hosting, local].map((one) => renderRootGuard(one).text)])
      execFileSync('unshare', ['--net', 'nft', '--check', '--file', '-'], { input: text })
  })

  it('let members answer clients behind NAT64, 6to4 and Teredo, and connect nobody to such members', () => {
    const rules = renderGuard(gateway).text.split('\n')
    const translated = ['64:ff9b::/96', '2002::/16', '2001::/32']
    const outwards = rules.filter((rule) => rule.includes('oifname "uplink" ip6 daddr'))
    const towards = rules.filter((rule) => rule.includes('oifname "segment" ip6 daddr'))
    for (const prefix of translated) {
      expect(outwards.filter((rule) => rule.includes(prefix))).toEqual([])
      expect(towards.filter((rule) => rule.includes(prefix))).toHaveLength(1)
    }
    expect(outwards).toHaveLength(1)
  })

  it('differ in their mark exactly when they differ', () => {
    expect(renderGuard(gateway).mark).toBe(renderGuard({ ...gateway, gateway: null }).mark)
    expect(renderGuard(gateway).mark).not.toBe(renderGuard(snat).mark)
    expect(renderGuard(routed).mark).not.toBe(renderGuard(gateway).mark)
    expect(renderGuard(routed).mark).toBe(renderGuard({ ...gateway, routes: routes.slice(0, 1) }).mark)
    expect(renderGuard(gateway).mark).not.toBe(renderGuard(gateway, ['10.250.0.0/16']).mark)
  })
})
