import { execFileSync } from 'node:child_process'
import type { LoadBalancerEntry } from '@spout/model/node-state'
import { describe, expect, it } from 'vitest'
import type { WantedEntry } from '../../contracts/driver.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../../testing/entries.ts'
import { describe as describeRendered } from './describe.ts'
import { renderForwardingSkeleton, renderTunnellingSkeleton } from './forwarding-skeleton.ts'
import { renderProxyRedirect } from './proxy-redirect.ts'
import { render } from './render.ts'
import { renderSkeleton } from './skeleton.ts'
import { renderSpreadingSkeleton } from './spreading-skeleton.ts'

const domain = domainEntry(7)
const snatDomain = domainEntry(7, { returnPath: 'snat', gateway: null })

const untrackedDomain = domainEntry(7, { untracked: true })
const dsrDomain = domainEntry(7, { returnPath: 'dsr', gateway: null })

const nodeDomain = domainEntry(7, {
  returnPath: 'node',
  gateway: null,
  hosts: {
    vni: 7,
    own: 11,
    address: '192.0.2.1',
    peers: [{ number: 12, address: '192.0.2.2' }],
    prefixes: [
      { to: '10.244.1.0/24', host: 11 },
      { to: '10.244.2.0/24', host: 12 },
      { to: 'fd44:2::/64', host: 12 },
      { to: '10.244.3.0/24', host: 13 },
    ],
  },
})

const lb = (
  fields: Partial<Pick<LoadBalancerEntry, 'vips' | 'services' | 'pools'>>,
  down: readonly string[] = [],
  inDomain = domain,
): WantedEntry => wanted('a', inDomain, { vips: [vip('203.0.113.10')], ...fields }, down)

const two = [member('m1', '10.0.0.11'), member('m2', '10.0.0.12', { weight: 3 })]
/** With the port of the listener: return path dsr changes none. */
const direct = [member('m1', '10.0.0.11', { port: 80 }), member('m2', 'fd01::12', { port: 80 })]

const cases: Record<string, WantedEntry> = {
  tcp: lb({ services: [service('l1', 80, 5)], pools: [pool(5, two)] }),
  'tcp-snat': lb({ services: [service('l1', 80, 5)], pools: [pool(5, two)] }, [], snatDomain),
  'udp-affinity-one-down': lb(
    { services: [service('l1', 53, 5, { protocol: 'udp' })], pools: [pool(5, two, { sourceAffinity: true })] },
    ['m2'],
  ),
  'clients-kept-one-down': lb(
    {
      vips: [vip('203.0.113.10'), vip('2001:db8::10')],
      services: [service('l1', 53, 5, { protocol: 'udp' })],
      pools: [pool(5, [...two, member('m3', 'fd01::13')], { sourceAffinity: true, keepSeconds: 100 })],
    },
    ['m2'],
  ),
  'one-port-three-protocols': lb({
    vips: [vip('203.0.113.10'), vip('2001:db8::10')],
    services: (['tcp', 'udp', 'sctp'] as const).map((protocol, at) => service(`l${at}`, 3868, 5 + at, { protocol })),
    pools: [5, 6, 7].map((number) => pool(number, two)),
  }),
  'all-down': lb({ services: [service('l1', 80, 5)], pools: [pool(5, two)] }, ['m1', 'm2']),
  'no-pool': lb({ services: [service('l1', 80, null)] }),
  'dual-stack-mixed-members': lb({
    vips: [vip('203.0.113.10'), vip('2001:db8::10'), vip('10.0.0.100', 'tenant')],
    services: [service('l1', 443, 9)],
    pools: [pool(9, [member('m1', '10.0.0.11'), member('m2', 'fd01::12')])],
  }),
  'limits-and-sources': lb({
    vips: [vip('203.0.113.10'), vip('2001:db8::10')],
    services: [
      service('l1', 80, 5, {
        connectionLimit: 100,
        allowedCidrs: ['198.51.100.0/24', '198.51.100.7/32', '192.0.2.1/32', '2001:db8:1::/48'],
      }),
      service('l2', 81, 5, { allowedCidrs: [] }),
    ],
    pools: [pool(5, two)],
  }),
  proxied: lb({
    vips: [vip('203.0.113.10'), vip('2001:db8::10')],
    services: [service('l7', 80, 5, { protocol: 'http' }), service('elsewhere', 81, 5, { protocol: 'http' })],
    pools: [pool(5, two, { mode: 'http', slots: null })],
  }),
  'proxied-one-behind-another': lb({
    services: [
      service('behind', 443, 5, { protocol: 'https' }),
      service('l7', 443, null, { protocol: 'tls-passthrough' }),
    ],
    pools: [pool(5, two, { mode: 'http', slots: null })],
  }),
  'dsr-dual-stack': lb(
    {
      vips: [vip('203.0.113.10'), vip('2001:db8::10'), vip('10.0.0.100', 'tenant')],
      services: [
        service('l1', 80, 5, { allowedCidrs: ['198.51.100.0/24', '2001:db8:1::/48'] }),
        service('l2', 80, 6, { protocol: 'udp' }),
        service('l3', 81, null),
      ],
      pools: [pool(5, direct), pool(6, direct, { sourceAffinity: true })],
    },
    ['m2'],
    dsrDomain,
  ),
  'dsr-tunnel': lb(
    {
      vips: [vip('203.0.113.10'), vip('2001:db8::10')],
      services: [service('l1', 80, 5)],
      pools: [pool(5, [...direct, member('m3', '10.8.1.13', { port: 80 }), member('m4', 'fd08::14', { port: 80 })])],
    },
    [],
    domainEntry(7, {
      ...{ returnPath: 'dsr', gateway: null },
      tunnel: { vni: 7, subnets: ['10.8.0.0/16', 'fd08::/48'].map((cidr) => ({ cidr, via: '10.0.0.1' })) },
    }),
  ),
  /** The members of this node, of another one, of one that is not reached, and of none. */
  'member-nodes': lb(
    {
      vips: [vip('203.0.113.10'), vip('2001:db8::10')],
      services: [service('l1', 80, 5), service('l7', 81, 5, { protocol: 'http' })],
      pools: [
        pool(5, [
          member('m1', '10.244.1.11'),
          member('m2', '10.244.2.11'),
          member('m3', '10.244.3.11'),
          member('m4', '10.0.0.11'),
          member('m5', 'fd44:2::11'),
        ]),
      ],
    },
    [],
    nodeDomain,
  ),
  'proxied-untracked': lb(
    {
      vips: [vip('203.0.113.10'), vip('2001:db8::10')],
      services: [service('l7', 80, 5, { protocol: 'http' }), service('elsewhere', 81, 5, { protocol: 'http' })],
      pools: [pool(5, two, { mode: 'http', slots: null })],
    },
    [],
    untrackedDomain,
  ),
  'proxied-and-limited': lb({
    services: [service('l7', 80, 5, { protocol: 'http', connectionLimit: 10 })],
    pools: [pool(5, two, { mode: 'http', slots: null })],
  }),
}

const proxyPorts = new Map([['l7', { port: 20_001 }]])

describe('render', () => {
  it.each(Object.keys(cases))('%s', async (name) => {
    const rendered = render({ ...cases[name]!, proxyPorts })
    const parts = [rendered, ...(rendered.spread === null ? [] : [rendered.spread.entry, rendered.spread.hosts])]
    await expect(parts.map(describeRendered).join('\n')).toMatchFileSnapshot(`testdata/${name}.txt`)
  })

  it('gives the same bytes for the same entry and others for another health', () => {
    const entry = cases['tcp']!
    const [first, second] = [entry, structuredClone(entry)].map((each) => render({ ...each, proxyPorts }))
    expect(first?.records.equals(second!.records)).toBe(true)
    expect(first?.digest).toBe(second?.digest)
    expect(render({ ...entry, down: new Set(['m1']), proxyPorts }).digest).not.toBe(
      render({ ...entry, proxyPorts }).digest,
    )
  })

  it.each([
    ['is balanced', { protocol: 'tcp' }],
    ['counts its connections', { connectionLimit: 10 }],
    ['lists its clients', { allowedCidrs: ['198.51.100.0/24'] }],
  ] as const)('translates still where nothing should be tracked but a listener %s', (_why, fields) => {
    const services = [service('l7', 80, 5, { protocol: 'http' }), service('l8', 81, 6, { protocol: 'http', ...fields })]
    const pools = [pool(5, two, { mode: 'http', slots: null }), pool(6, two)]
    const [here, tracked] = [untrackedDomain, domain].map((each) =>
      render({ ...lb({ services, pools }, [], each), proxyPorts }),
    )
    expect(here?.table).toBe('translating')
    expect(here?.digest).toBe(tracked?.digest)
  })

  it.each([
    ['has a connection limit', { connectionLimit: 10 }],
    ['is proxied (http)', { protocol: 'http' }],
    ['has a member with port 80, not 81', { port: 81 }],
  ] as const)('refuses for return path dsr a listener that %s', (why, fields) => {
    const services = [service('l1', 80, 5, fields)]
    expect(() => render({ ...lb({ services, pools: [pool(5, direct)] }, [], dsrDomain), proxyPorts })).toThrow(
      `listener l1 ${why}, which return path dsr cannot serve`,
    )
  })

  it('leads packets to no other node while its own address is unknown, or only a proxy serves', () => {
    const { hosts } = nodeDomain
    const alone = { ...nodeDomain, hosts: { ...hosts!, address: null, peers: [] } }
    expect(render({ ...cases['member-nodes']!, domain: alone }).spread).toBeNull()
    const services = [service('l7', 80, 5, { protocol: 'http' })]
    expect(render({ ...lb({ services, pools: [pool(5, two)] }, [], nodeDomain), proxyPorts }).spread).toBeNull()
  })

  it('gives a slot of another node to a member of this one, and leaves its own slots', () => {
    const slots = (rendered: ReturnType<typeof render>): readonly string[] => {
      const bytes = rendered.records.get('member4') ?? Buffer.alloc(0)
      return Array.from({ length: bytes.length / 16 }, (_, at) => bytes.toString('hex', 16 * at + 4, 16 * at + 12))
    }
    const pools = [pool(5, [member('m1', '10.244.1.11'), member('m1b', '10.244.1.12'), member('m2', '10.244.2.11')])]
    const [everywhere, here] = [snatDomain, nodeDomain].map((each) =>
      slots(render(lb({ services: [service('l1', 80, 5)], pools }, [], each))),
    )
    expect(here).toHaveLength(64)
    for (const [at, slot] of everywhere!.entries())
      if (slot.endsWith('0af4010b') || slot.endsWith('0af4010c')) expect(here![at]).toBe(slot)
      else expect(here![at]).toMatch(/0af4010[bc]$/)
  })

  it('packs a member record as the kernel lays it out', () => {
    const records = render({ ...cases['tcp']!, proxyPorts }).records.get('member4')
    const [first, second, third, fourth] = [0, 4, 8, 12].map((at) => records?.subarray(at, at + 4).toString('hex'))
    expect([first, second]).toEqual(['05000000', '00000000'])
    expect(third).toMatch(/^0a00000[bc]$/)
    expect(fourth).toBe('1f900000')
  })
})

describe.each([
  ['skeleton', renderSkeleton],
  ['proxy-redirect', renderProxyRedirect],
  ['forwarding-skeleton', () => renderForwardingSkeleton('2.3')],
  ['tunnelling-skeleton', () => renderTunnellingSkeleton('2.3.4.5')],
  ['spreading-skeleton', () => renderSpreadingSkeleton('2.3')],
] as const)('%s', (name, renderText) => {
  it('is what the golden says', async () => {
    await expect(renderText().text).toMatchFileSnapshot(`testdata/${name}.nft`)
  })

  it.runIf(process.getuid?.() === 0)('is accepted by nft', () => {
    // A chain of family netdev names the devices that it hangs on.
    const links = [
      'uplink type veth peer name segment',
      'tunnel4 type veth peer name tunnel6',
      'hosts type veth peer name other',
    ]
      .map((link) => `ip link add name ${link}`)
      .join(' && ')
    execFileSync('unshare', ['--net', 'sh', '-c', `${links} && nft --check --file -`], { input: renderText().text })
  })
})
