import { mkdtemp, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DomainEntry, Service } from '@spout/model/node-state'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Announcement } from '../../contracts/announcer.ts'
import type { WantedEntry } from '../../contracts/driver.ts'
import { Arrangement } from '../../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../../testing/entries.ts'
import { labPrefix } from '../../testing/lab-names.ts'
import { LabNode, silent } from '../../testing/lab-node.ts'
import { type Peer, SILENCE_MS } from '../../testing/peer-client.ts'
import { HaproxyDriver } from '../haproxy/haproxy-driver.ts'
import { SystemHost } from '../haproxy/place/proxy-host.ts'
import { proxyPlaceOf } from '../haproxy/place/proxy-place.ts'
import { endLeftProxies } from '../haproxy/processes/left-proxies.ts'
import { DEFAULT_OPTIONS } from '../haproxy/sections/options.ts'

// The redirect to the proxy, with a real proxy.

const signal = new AbortController().signal
const red = domainEntry(1)
/** The same domain with only proxied listeners, without limit or list of sources. */
const untracked = domainEntry(1, { untracked: true })
const members = [member('m1', '10.0.0.11')]
const VIPS = ['10.9.0.100', 'fd09::100', '10.0.0.100']
/** The addresses from which the proxy connects to members. */
const NODE = ['10.0.0.250', 'fd01::250']

let lab: Arrangement
let node: LabNode
const cgroup = labPrefix()
let proxy: HaproxyDriver
let host: SystemHost
let runDirectory: string
let client: Peer
/** A client in the domain itself, in the place of a proxy that an attacker controls. */
let insider: Peer

beforeAll(async () => {
  lab = await Arrangement.create()
  runDirectory = await mkdtemp(join(tmpdir(), 'spt-'))
  host = await SystemHost.probe(cgroup)
  node = await LabNode.start(lab, 'node1', (id) => proxy.proxyPort(id))
  proxy = new HaproxyDriver({ place: proxyPlaceOf(node.config), host, log: silent, options: { runDirectory } })
  client = lab.peer('client')
  await node.domains.adopt([])
  await node.domains.apply({ put: [red], remove: [] }, signal)
  insider = lab.adopt('insider', node.domains.namespace(red.number))
})
afterEach(() => put())
afterAll(async () => {
  await proxy?.close()
  if (host !== undefined) await endLeftProxies(runDirectory, new Set(), host)
  await node?.end([red.number])
  await lab?.[Symbol.asyncDispose]()
  await rm(runDirectory, { recursive: true, force: true })
  for (const controller of ['memory', 'pids', 'cpu'])
    await rmdir(`/sys/fs/cgroup/${controller}/${cgroup}`).catch(() => {})
})

const put = (...services: readonly Service[]): Promise<void> => putInto(red, ...services)

/** Applies these services of one load balancer, first to the proxy, as an agent does. Without any it removes it. */
async function putInto(domain: DomainEntry, ...services: readonly Service[]): Promise<void> {
  const entry: WantedEntry = wanted('a', domain, {
    vips: VIPS.map((address) => vip(address, address === '10.0.0.100' ? 'tenant' : 'fabric')),
    services,
    pools: [
      pool(5, members, { mode: 'tcp-proxy', slots: null }),
      pool(6, members, { mode: 'tcp-proxy', slots: null, proxyProtocol: 'v1' }),
      pool(7, [...members, member('m2', 'fd01::11')]),
    ],
  })
  const change = services.length > 0 ? { put: [entry], remove: [] } : { put: [], remove: [entry.key] }
  for (const driver of [proxy, node.driver])
    expect((await driver.apply(change, signal)).filter(({ state }) => state === 'failed')).toEqual([])
  const announced = services.length > 0 ? entry.entry.vips : []
  const announcements = announced.map(
    ({ address, scope }): Announcement => ({ address, scope, domain: red.number, by: { via: 'l2' } }),
  )
  expect((await node.announcer.apply(announcements, signal)).filter(({ error }) => error !== null)).toEqual([])
}

const proxied = (id: string, port: number, change: Partial<Service> = {}): Service =>
  service(id, port, 5, { protocol: 'tcp-proxy', ...change })

const inDomain = (command: string): Promise<string> =>
  lab.run('node1', `nsenter --net=${node.domains.netns(red.number)} ${command}`)
/** Flows that the kernel tracks. */
const tracked = async (): Promise<number> => Number(await inDomain('sysctl -n net.netfilter.nf_conntrack_count'))

describe('a proxied listener', () => {
  it('is reached at its VIPs, which the proxy sees as they are', async () => {
    await put(proxied('plain', 80), proxied('told', 81, { pool: 6 }))
    expect(await client.connect('10.9.0.100', 80)).toBe(`red1 ${NODE[0]}`)
    expect(await client.connect('fd09::100', 80)).toBe(`red1 ${NODE[0]}`)
    expect(await lab.peer('red9').connect('10.0.0.100', 80)).toBe(`red1 ${NODE[0]}`)
    expect(await lab.peer('red9').connect('10.9.0.100', 80)).toBe(`red1 ${NODE[0]}`)
    for (const [from, address, line] of [
      ['client', '10.9.0.100', 'PROXY TCP4 10.9.0.9 10.9.0.100 '],
      ['client', 'fd09::100', 'PROXY TCP6 fd09::9 fd09::100 '],
      ['red9', '10.0.0.100', 'PROXY TCP4 10.0.0.99 10.0.0.100 '],
    ] as const) {
      const { connection, line: greeting } = await lab.peer(from).open(address, 81)
      // The member echoes the PROXY header.
      const heard = /PROXY/.test(greeting) ? greeting : await lab.peer(from).hear(connection)
      expect(heard).toMatch(line)
      expect(heard).toMatch(/ 81$/)
      await lab.peer(from).close(connection)
    }
  })

  it('answers over HTTP, with its port', async () => {
    await put(service('web', 80, 5, { protocol: 'http', insertHeaders: ['x-forwarded-for', 'x-forwarded-port'] }))
    // The member is not an HTTP server. The proxy's 502 shows that the request reached the proxy.
    const status = ['-s', '-m', '3', '-o', '/dev/null', '-w', '%{http_code}'].join(' ')
    expect(await lab.run('client', `curl ${status} http://10.9.0.100/`)).toBe('502')
    expect(await lab.run('client', `curl ${status} http://[fd09::100]/`)).toBe('502')
  })

  it('is not tracked, unless its connections are counted or its clients listed', async () => {
    await put(proxied('plain', 80), proxied('limited', 81, { connectionLimit: 5 }))
    const before = await tracked()
    const plain = await client.open('10.9.0.100', 80)
    expect(plain.line).toMatch(/^red1/)
    expect(await tracked()).toBe(before)
    const limited = await client.open('10.9.0.100', 81)
    expect(limited.line).toMatch(/^red1/)
    expect(await tracked()).toBe(before + 1)
    for (const { connection } of [plain, limited]) expect(await client.say(connection, 'more')).toBe('more')
    for (const { connection } of [plain, limited]) await client.close(connection)
  })

  it('is reached by clients that the kernel answered with a SYN cookie: their connection has no socket yet', async () => {
    await put(proxied('plain', 80), proxied('limited', 81, { connectionLimit: 5 }))
    await inDomain('sysctl -qw net.ipv4.tcp_syncookies=2')
    try {
      for (const address of ['10.9.0.100', 'fd09::100'])
        for (const port of [80, 81]) {
          const { connection, line } = await client.open(address, port)
          expect(line).toMatch(/^red1/)
          expect(await client.say(connection, 'more')).toBe('more')
          await client.close(connection)
        }
      expect(await inDomain('nstat -asz TcpExtSyncookiesRecv')).toMatch(/TcpExtSyncookiesRecv +4 /)
    } finally {
      await inDomain('sysctl -qw net.ipv4.tcp_syncookies=1')
    }
  })

  it('is refused at once where the proxy carries nothing', async () => {
    await put(proxied('empty', 80, { pool: null }), proxied('plain', 81))
    await proxy.apply({ put: [], remove: ['lb/a'] })
    for (const address of ['10.9.0.100', 'fd09::100']) {
      // The proxy runs, but this service has no pool.
      expect(await client.connect(address, 80)).toMatch(/^(CLOSED|ECONNRESET)$/)
      expect(await client.connect(address, 82)).toBe('ECONNREFUSED')
    }
    await proxy.stopDomain(red.number)
    for (const address of ['10.9.0.100', 'fd09::100']) expect(await client.connect(address, 81)).toBe('ECONNREFUSED')
  })
})

describe('admission', () => {
  const listed = { allowedCidrs: ['10.9.0.9/32', 'fd09::/64'] }

  it('lets the listed sources in alone', async () => {
    await put(proxied('listed', 80, listed), proxied('both', 81, { ...listed, connectionLimit: 5 }))
    for (const port of [80, 81]) {
      expect(await client.connect('10.9.0.100', port)).toMatch(/^red1/)
      expect(await client.connect('fd09::100', port)).toMatch(/^red1/)
      expect(await client.connect('10.9.0.100', port, { source: '10.9.0.10', withinMs: SILENCE_MS })).toBe('ETIMEDOUT')
    }
  })

  it('counts connections over all VIPs, resets those beyond the limit, and admits again when one ends', async () => {
    await put(proxied('limited', 80, { connectionLimit: 2 }))
    const first = await client.open('10.9.0.100', 80)
    const second = await client.open('fd09::100', 80)
    expect([first.line, second.line]).toEqual([expect.stringMatching(/^red1/), expect.stringMatching(/^red1/)])
    for (const address of ['10.9.0.100', 'fd09::100']) expect(await client.connect(address, 80)).toBe('ECONNREFUSED')
    for (const { connection } of [first, second]) expect(await client.say(connection, 'more')).toBe('more')
    await client.close(first.connection)
    await expect.poll(() => client.connect('10.9.0.100', 80), { timeout: 10_000 }).toMatch(/^red1/)
    await client.close(second.connection)
  })

  it('leaves connections alone that were open before it', async () => {
    await put(proxied('plain', 80))
    const { connection } = await client.open('10.9.0.100', 80, { source: '10.9.0.10' })
    await put(proxied('plain', 80, { ...listed, connectionLimit: 1 }))
    expect(await client.say(connection, 'more')).toBe('more')
    expect(await client.connect('10.9.0.100', 80, { source: '10.9.0.10', withinMs: SILENCE_MS })).toBe('ETIMEDOUT')
    await put(proxied('plain', 80))
    expect(await client.say(connection, 'still')).toBe('still')
    await client.close(connection)
  })
})

describe('the proxy', () => {
  it('has no other way in', async () => {
    await put(proxied('plain', 80))
    const { firstPort } = DEFAULT_OPTIONS
    const ports = (await inDomain('ss -Hltn')).matchAll(/:(\d+)\s/g)
    expect(Array.from(ports, ([, port]) => Number(port))).toContain(firstPort)
    const red9 = lab.peer('red9')
    for (const port of [firstPort, firstPort + 20]) {
      for (const vip of ['10.9.0.100', 'fd09::100']) expect(await client.connect(vip, port)).toBe('ECONNREFUSED')
      for (const address of ['10.0.0.250', '10.0.0.1', '10.0.0.100', 'fd01::250'])
        expect(await red9.connect(address, port)).toBe('ECONNREFUSED')
      for (const address of ['127.0.0.1', '::1', '10.0.0.250', '10.9.0.100'])
        expect(await insider.connect(address, port)).not.toMatch(/^red1/)
    }
  })

  it('reaches the tenant network and nothing else, itself included', async () => {
    await put(proxied('plain', 80))
    await client.serve(9000)
    expect(await insider.connect('10.0.0.11', 8080)).toMatch(/^red1/)
    expect(await insider.connect('fd01::11', 8080)).toMatch(/^red1/)
    for (const address of ['10.9.0.9', 'fd09::9', '10.9.0.1', '240.0.0.2'])
      expect(await insider.connect(address, 9000)).not.toMatch(/^client/)
    expect(await insider.datagram('10.9.0.9', 9000)).not.toMatch(/^client/)
    for (const address of ['10.9.0.100', 'fd09::100']) expect(await insider.connect(address, 80)).not.toMatch(/^red1/)
  })

  it("does not disturb balanced flows that have the node's address too", async () => {
    const snat = domainEntry(1, { returnPath: 'snat', gateway: null })
    await node.domains.apply({ put: [snat], remove: [] }, signal)
    await put(proxied('plain', 80), service('balanced', 81, 7))
    for (const sourcePort of [1_025, 32_767, 32_768, 40_000, 65_535])
      for (const address of ['10.9.0.100', 'fd09::100']) {
        const from = { sourcePort }
        expect(await client.connect(address, 81, from)).toMatch(/^red1 (10\.0\.0\.250|fd01::250)$/)
      }
    expect(await client.connect('10.9.0.100', 80)).toMatch(/^red1/)
    await put()
    await node.domains.apply({ put: [red], remove: [] }, signal)
  })
})

describe('a domain that tracks nothing', () => {
  const enter = async (domain: DomainEntry): Promise<void> => {
    const applied = await node.domains.apply({ put: [domain], remove: [] }, signal)
    expect(applied.filter(({ state }) => state === 'failed')).toEqual([])
  }
  const tables = async (): Promise<readonly string[]> =>
    (await inDomain('nft list tables')).split('\n').filter((line) => line !== '')
  const TRACKED = ['table inet spout-guard', 'table inet spout', 'table netdev spout-shares']
  const UNTRACKED = ['table inet spout-guard', 'table inet spout-doors', 'table netdev spout-shares']

  beforeEach(() => enter(untracked))
  afterEach(async () => {
    await put()
    await enter(red)
  })

  it('serves the proxy at all its VIPs, and has the kernel keep no flow', async () => {
    await putInto(untracked, proxied('plain', 80), service('web', 81, 5, { protocol: 'http' }))
    expect((await tables()).toSorted()).toEqual(UNTRACKED.toSorted())
    await inDomain('conntrack -F')
    expect(await client.connect('10.9.0.100', 80)).toBe(`red1 ${NODE[0]}`)
    expect(await client.connect('fd09::100', 80)).toBe(`red1 ${NODE[0]}`)
    expect(await lab.peer('red9').connect('10.0.0.100', 80)).toBe(`red1 ${NODE[0]}`)
    expect(await lab.peer('red9').connect('10.9.0.100', 80)).toBe(`red1 ${NODE[0]}`)
    const status = ['-s', '-m', '3', '-o', '/dev/null', '-w', '%{http_code}'].join(' ')
    expect(await lab.run('client', `curl ${status} http://10.9.0.100:81/`)).toBe('502')
    for (const address of ['10.9.0.100', 'fd09::100']) await lab.run('client', `ping -c1 -W2 ${address}`)
    expect(await tracked()).toBe(0)
  })

  it('refuses at once what nothing serves', async () => {
    await putInto(untracked, proxied('plain', 80))
    for (const address of ['10.9.0.100', 'fd09::100']) {
      expect(await client.connect(address, 82)).toBe('ECONNREFUSED')
      expect(await client.datagram(address, 80)).toBe('ECONNREFUSED')
    }
    await proxy.stopDomain(red.number)
    for (const address of ['10.9.0.100', 'fd09::100']) expect(await client.connect(address, 80)).toBe('ECONNREFUSED')
  })

  it('takes clients whom the kernel answered with a SYN cookie', async () => {
    await putInto(untracked, proxied('plain', 80))
    await inDomain('sysctl -qw net.ipv4.tcp_syncookies=2')
    try {
      for (const address of ['10.9.0.100', 'fd09::100']) {
        const { connection, line } = await client.open(address, 80)
        expect(line).toMatch(/^red1/)
        expect(await client.say(connection, 'more')).toBe('more')
        await client.close(connection)
      }
    } finally {
      await inDomain('sysctl -qw net.ipv4.tcp_syncookies=1')
    }
  })

  it('routes nothing', async () => {
    await putInto(untracked, proxied('plain', 80))
    await client.serve(9001)
    // From a member through its gateway, and from the proxy's place.
    const heard = ['10.9.0.9', 'fd09::9'].flatMap((address) => [
      lab.peer('red9').connect(address, 9001, { withinMs: SILENCE_MS }),
      insider.connect(address, 9001, { withinMs: SILENCE_MS }),
      insider.datagram(address, 9001, { withinMs: SILENCE_MS }),
    ])
    for (const line of await Promise.all(heard)) expect(line).not.toMatch(/^client/)
    expect(await insider.connect('10.0.0.11', 8080)).toMatch(/^red1/)
    const { firstPort } = DEFAULT_OPTIONS
    for (const vip of ['10.9.0.100', 'fd09::100']) expect(await client.connect(vip, firstPort)).toBe('ECONNREFUSED')
    for (const address of ['127.0.0.1', '::1', '10.0.0.250', '10.9.0.100'])
      expect(await insider.connect(address, firstPort)).not.toMatch(/^red1/)
  })

  it('keeps the connections of the proxy when it begins to track, and when it ends', async () => {
    await putInto(untracked, proxied('plain', 80))
    const open = await Promise.all(VIPS.slice(0, 2).map((address) => client.open(address, 80)))
    const expectAlive = async () => {
      for (const { connection } of open) expect(await client.say(connection, 'still there?')).toBe('still there?')
    }
    await enter(red)
    await expectAlive()
    await put(proxied('plain', 80), service('balanced', 81, 7), proxied('limited', 82, { connectionLimit: 1 }))
    expect((await tables()).toSorted()).toEqual(TRACKED.toSorted())
    await expectAlive()
    // The limit of one connection counts the one before until its end has arrived.
    for (const address of ['10.9.0.100', 'fd09::100'])
      for (const port of [80, 81, 82]) await expect.poll(() => client.connect(address, port)).toMatch(/^red1/)
    await enter(untracked)
    await expectAlive()
    await putInto(untracked, proxied('plain', 80))
    expect((await tables()).toSorted()).toEqual(UNTRACKED.toSorted())
    await expectAlive()
    for (const address of ['10.9.0.100', 'fd09::100']) {
      expect(await client.connect(address, 80)).toMatch(/^red1/)
      expect(await client.connect(address, 81)).toBe('ECONNREFUSED')
    }
    for (const { connection } of open) await client.close(connection)
  })

  it('serves what has to be tracked as well, until its network says so', async () => {
    await putInto(untracked, proxied('plain', 80), proxied('limited', 82, { connectionLimit: 1 }))
    const { connection, line } = await client.open('10.9.0.100', 82)
    expect(line).toMatch(/^red1/)
    expect(await client.connect('10.9.0.100', 82)).toBe('ECONNREFUSED')
    expect(await client.connect('10.9.0.100', 80)).toMatch(/^red1/)
    await client.close(connection)
  })
})
