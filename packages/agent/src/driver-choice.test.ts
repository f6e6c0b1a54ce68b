import type { DataPlaneDriver, ProxyPort, WantedEntry } from '@spout/dataplane'
import type { LoadBalancerEntry, NodePool, Service } from '@spout/model/node-state'
import { beforeEach, describe, expect, it } from 'vitest'
import { applyEntries } from './apply-result.ts'
import { DriverChoice } from './driver-choice.ts'
import { domainEntry, loadBalancerEntry } from './testing/index.ts'
import { RecordedDriver, RecordedNode } from './testing/recorded-node.ts'

const signal = new AbortController().signal
const DOMAIN = domainEntry(1)

/** The calls of all drivers, in order. */
let told: string[]
beforeEach(() => {
  told = []
})

class NamedDriver extends RecordedDriver implements DataPlaneDriver<string> {
  override readonly name: string
  override readonly features: ReadonlySet<string>
  readonly #proxyPorts: ReadonlyMap<string, ProxyPort>

  constructor(name: string, features: readonly string[], proxyPorts: ReadonlyMap<string, ProxyPort> = new Map()) {
    super(new RecordedNode())
    this.name = name
    this.features = new Set(features)
    this.#proxyPorts = proxyPorts
  }

  proxyPorts({ services }: LoadBalancerEntry): ReadonlyMap<string, ProxyPort> {
    return services.some(({ protocol }) => protocol === 'http') ? this.#proxyPorts : new Map()
  }

  override async apply({ put, remove }: Parameters<RecordedDriver['apply']>[0]) {
    const words = put.map(
      ({ key, proxyPorts }) => `+${key}${[...(proxyPorts?.keys() ?? [])].map((id) => ` to ${id}`).join('')}`,
    )
    told.push(`${this.name}: ${[...words, ...remove.map((key) => `-${key}`)].join(', ')}`)
    return []
  }
}

const wantedOf = (
  id: string,
  protocols: readonly Service['protocol'][],
  returnPath = DOMAIN.returnPath,
): WantedEntry => {
  const entry = loadBalancerEntry(id)
  const services = protocols.map(
    (protocol, index): Service => ({
      ...{ id: `l${index}`, protocol, port: 80 + index, pool: null, connectionLimit: null, allowedCidrs: null },
      timeouts: { clientMs: 1, connectMs: 1, memberMs: 1 },
      insertHeaders: [],
    }),
  )
  return {
    ...{ key: entry.key, hash: id, down: new Set<string>() },
    domain: { ...DOMAIN, returnPath },
    entry: { ...entry, services },
  }
}

const proxy = () => new NamedDriver('proxy', ['l7.http'], new Map([['l0', { port: 20_000 }]]))
const fast = () => new NamedDriver('fast', ['l4.tcp'])
const packets = () => new NamedDriver('packets', ['l4.tcp', 'l4.udp', 'l4.redirect', 'dsr'])

const apply = (drivers: readonly DataPlaneDriver[], put: readonly WantedEntry[], remove: readonly string[] = []) =>
  applyEntries({ preparers: [], choice: new DriverChoice(drivers), followers: [] }, { put, remove }, signal)

describe('choice of drivers', () => {
  it('gives an entry to the first driver that offers what it needs, and takes it from the others', async () => {
    const drivers = [fast(), packets()]
    const [tcp, udp] = [wantedOf('tcp', ['tcp']), wantedOf('udp', ['udp'])]
    expect(await apply(drivers, [tcp, udp], ['lb/gone'])).toEqual(new Map())
    expect(told).toEqual(['fast: +lb/tcp, -lb/gone, -lb/udp', 'packets: +lb/udp, -lb/gone, -lb/tcp'])
  })

  it('gives the packet path of an entry to one driver, or two would program its listeners', async () => {
    await apply([fast(), packets()], [wantedOf('a', ['tcp', 'udp'])])
    expect(told).toEqual(['fast: -lb/a', 'packets: +lb/a'])
  })

  it('gives an entry with a proxied listener to a packet path that redirects', async () => {
    await apply([fast(), proxy(), packets()], [wantedOf('a', ['http', 'tcp']), wantedOf('b', ['tcp'])])
    expect(told).toEqual(['fast: +lb/b, -lb/a', 'proxy: +lb/a, -lb/b', 'packets: +lb/a to l0, -lb/b'])
  })

  it('gives the proxied listeners of an entry to one driver', async () => {
    const other = () => new NamedDriver('other', ['l7.http', 'l7.https'])
    await apply([proxy(), other(), packets()], [wantedOf('a', ['http', 'https']), wantedOf('b', ['http'])])
    expect(told).toEqual(['proxy: +lb/b, -lb/a', 'other: +lb/a, -lb/b', 'packets: +lb/a, +lb/b to l0'])
  })

  it('says what no driver offers, or what no one driver offers together', () => {
    const missing = (drivers: readonly DataPlaneDriver[]) =>
      new DriverChoice(drivers).of(wantedOf('a', ['tcp', 'sctp', 'udp'])).missing
    expect(missing([fast(), packets()])).toBe('l4.sctp')
    expect(missing([fast(), new NamedDriver('others', ['l4.sctp', 'l4.udp'])])).toBe('l4.sctp l4.tcp l4.udp')
  })

  it('gives a load balancer with a proxy of its own to a driver that offers that alone', async () => {
    const shared = wantedOf('a', ['http'])
    const own = { ...shared, entry: { ...shared.entry, dedicatedProxy: {} } }
    const able = new NamedDriver('able', ['l7.http', 'l7.dedicated-proxy'])
    expect(new DriverChoice([proxy(), packets()]).of(own).missing).toBe('l7.dedicated-proxy')
    expect(new DriverChoice([proxy(), able, packets()]).of(own).drivers).toContain(able)
    expect(new DriverChoice([proxy(), able, packets()]).of(shared).drivers).not.toContain(able)
    const plain = wantedOf('b', ['tcp'])
    const unproxied = { ...plain, entry: { ...plain.entry, dedicatedProxy: {} } }
    expect(new DriverChoice([proxy(), packets()]).of(unproxied).missing).toBeNull()
  })

  it('asks one driver for both, where packets are forwarded as they are', async () => {
    await apply([fast(), packets()], [wantedOf('a', ['tcp'], 'dsr')])
    expect(told).toEqual(['fast: -lb/a', 'packets: +lb/a'])
  })

  it('gives the packet path the proxy ports of the proxy before it', async () => {
    await apply([proxy(), packets()], [wantedOf('a', ['http'])])
    expect(told).toEqual(['proxy: +lb/a', 'packets: +lb/a to l0'])
  })

  it('has the packet path ready for an entry without listeners', async () => {
    await apply([proxy(), packets()], [wantedOf('a', [])])
    expect(told).toEqual(['proxy: -lb/a', 'packets: +lb/a'])
  })

  it('refuses what no driver offers, and stops no other entry', async () => {
    const failures = await apply([proxy(), packets()], [wantedOf('a', ['sctp']), wantedOf('b', ['tcp'])])
    expect([...failures]).toEqual([
      ['lb/a', { reason: 'FeatureUnavailable', message: 'no driver of this node offers l4.sctp' }],
    ])
    expect(told).toEqual(['proxy: -lb/b', 'packets: +lb/b'])
  })

  it('refuses lists of revoked certificates where no driver looks them up: all would be let in', async () => {
    const asking = wantedOf('a', ['https'])
    const stored = { id: 'c', contentId: 'c'.repeat(32) }
    const tls: NonNullable<Service['tls']> = {
      ...{ certificates: [stored], unknownNames: 'default', minVersion: '1.2', alpn: [] },
      clients: { authorities: stored, required: true, revocations: stored },
    }
    const services = asking.entry.services.map((service) => ({ ...service, tls }))
    const features = ['l7.https', 'l7.client-certificates']
    const wanted = { ...asking, entry: { ...asking.entry, services } }
    const [failure] = (await apply([new NamedDriver('proxy', features), packets()], [wanted])).values()
    expect(failure).toMatchObject({ reason: 'FeatureUnavailable' })
    expect(failure!.message).toContain('l7.client-certificates.crl')
    const able = new NamedDriver('proxy', [...features, 'l7.client-certificates.crl'])
    expect(await apply([able, packets()], [wanted])).toEqual(new Map())
  })

  it('refuses members that are spoken to in HTTP/2 where no driver does', async () => {
    const asking = wantedOf('a', ['http'])
    const pool: NodePool = {
      ...{ id: 'p', number: 1, mode: 'http', algorithm: 'round-robin', sourceAffinity: false, proxyProtocol: 'none' },
      ...{ members: [], slots: null, check: null, panicThreshold: 0, http2: true },
    }
    const services = asking.entry.services.map((service) => ({ ...service, pool: 1 }))
    const wanted = { ...asking, entry: { ...asking.entry, services, pools: [pool] } }
    const [failure] = (await apply([new NamedDriver('proxy', ['l7.http']), packets()], [wanted])).values()
    expect(failure!.message).toContain('l7.pool-h2c')
    const able = new NamedDriver('proxy', ['l7.http', 'l7.pool-h2c'])
    expect(await apply([able, packets()], [wanted])).toEqual(new Map())
  })

  it('refuses lists of revoked certificates of members where no driver looks them up', async () => {
    const asking = wantedOf('a', ['http'])
    const stored = { id: 'c', contentId: 'c'.repeat(32) }
    const pool: NodePool = {
      ...{ id: 'p', number: 1, mode: 'http', algorithm: 'round-robin', sourceAffinity: false, proxyProtocol: 'none' },
      ...{ members: [], slots: null, check: null, panicThreshold: 0 },
      tls: {
        ...{ authorities: stored, revocations: stored, serverName: null, certificate: null },
        ...{ minVersion: '1.2', alpn: [] },
      },
    }
    const services = asking.entry.services.map((service) => ({ ...service, pool: 1 }))
    const wanted = { ...asking, entry: { ...asking.entry, services, pools: [pool] } }
    const features = ['l7.http', 'l7.pool-tls']
    const [failure] = (await apply([new NamedDriver('proxy', features), packets()], [wanted])).values()
    expect(failure!.message).toContain('l7.pool-tls.crl')
    const able = new NamedDriver('proxy', [...features, 'l7.pool-tls.crl'])
    expect(await apply([able, packets()], [wanted])).toEqual(new Map())
  })
})
