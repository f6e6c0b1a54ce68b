import { mkdtemp, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SecondChance as Settings } from '@spout/model/node-state'
import { waitFor } from '@spout/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Announcement } from '../contracts/announcer.ts'
import type { WantedEntry } from '../contracts/driver.ts'
import { HaproxyDriver } from '../drivers/haproxy/haproxy-driver.ts'
import { SystemHost } from '../drivers/haproxy/place/proxy-host.ts'
import { proxyPlaceOf } from '../drivers/haproxy/place/proxy-place.ts'
import { endLeftProxies } from '../drivers/haproxy/processes/left-proxies.ts'
import { Arrangement } from '../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../testing/entries.ts'
import { labPrefix } from '../testing/lab-names.ts'
import { LabNode, silent } from '../testing/lab-node.ts'
import type { Peer } from '../testing/peer-client.ts'
import { SecondChance } from './second-chance.ts'

/** Two nodes with a proxy each. A planned move takes the address from the first to the second. */

const signal = new AbortController().signal
const DOMAIN = 1
const VIPS = ['10.9.0.100', 'fd09::100']
/** Addresses of the tenant network itself: their clients are on its segment. */
const INNER = ['10.0.0.100', 'fd01::100']
const NODE_ADDRESSES = { n1: ['10.0.0.250', 'fd01::250'], n2: ['10.0.0.251', 'fd01::251'] }
const ADDRESS = { node1: '10.9.0.1', node2: '10.9.0.2' } as const
type Name = keyof typeof ADDRESS
const STRAY = fileURLToPath(new URL('../testing/second-chance/stray.py', import.meta.url))

interface Node {
  readonly lab: LabNode
  readonly proxy: HaproxyDriver
  readonly chance: SecondChance
  readonly entry: WantedEntry
}

let arrangement: Arrangement
let client: Peer
let runDirectory: string
let host: SystemHost
const nodes = new Map<Name, Node>()
const node = (name: Name): Node => nodes.get(name)!
const cgroup = labPrefix()
/**
 * Time-outs longer than the tests. The proxy still has connections whose clients were refused by the other node. If it
 * ended them, the clients would answer with resets, which the other node would forward and count.
 */
const HOURS = { clientMs: 3_600_000, connectMs: 5_000, memberMs: 3_600_000 }

beforeAll(async () => {
  arrangement = await Arrangement.create()
  client = arrangement.peer('client')
  runDirectory = await mkdtemp(join(tmpdir(), 'spt-'))
  host = await SystemHost.probe(cgroup)
  for (const [index, name] of (['node1', 'node2'] as const).entries()) await start(name, index)
})

afterAll(async () => {
  for (const { proxy } of nodes.values()) await proxy.close()
  for (const name of nodes.keys())
    if (host !== undefined) await endLeftProxies(join(runDirectory, name), new Set(), host)
  for (const { lab } of nodes.values()) await lab.end([DOMAIN])
  await arrangement?.[Symbol.asyncDispose]()
  await rm(runDirectory, { recursive: true, force: true })
  for (const controller of ['memory', 'pids', 'cpu'])
    await rmdir(`/sys/fs/cgroup/${controller}/${cgroup}`).catch(() => {})
})

async function start(name: Name, index: number): Promise<void> {
  const domain = domainEntry(DOMAIN, {
    returnPath: 'snat',
    gateway: null,
    subnets: [
      { cidr: '10.0.0.0/24', nodeAddress: `10.0.0.${250 + index}`, gatewayIp: null, sharedAddress: null },
      { cidr: 'fd01::/64', nodeAddress: `fd01::${250 + index}`, gatewayIp: null, sharedAddress: null },
    ],
    nodeAddresses: NODE_ADDRESSES,
  })
  const lab = await LabNode.start(arrangement, name, (id) => proxy.proxyPort(id))
  const proxy = new HaproxyDriver({
    place: proxyPlaceOf(lab.config),
    host,
    log: silent,
    options: { runDirectory: join(runDirectory, name) },
  })
  const chance = new SecondChance({ config: lab.config, helper: lab.helper, log: silent })
  const entry = wanted('a', domain, {
    vips: [...VIPS.map((address) => vip(address)), ...INNER.map((address) => vip(address, 'tenant'))],
    services: [service('plain', 80, 5, { protocol: 'tcp-proxy', timeouts: HOURS }), service('balanced', 81, 6)],
    pools: [
      pool(5, [member('m1', '10.0.0.11')], { mode: 'tcp-proxy', slots: null }),
      pool(6, [member('m1', '10.0.0.11')]),
    ],
  })
  nodes.set(name, { lab, proxy, chance, entry })
  await lab.domains.adopt([])
  await lab.domains.apply({ put: [domain], remove: [] }, signal)
  for (const driver of [proxy, lab.driver, chance])
    expect((await driver.apply({ put: [entry], remove: [] }, signal)).filter((one) => one.state === 'failed')).toEqual(
      [],
    )
}

/** Makes this node the only one that announces the addresses. */
async function announcedBy(name: Name): Promise<void> {
  const announcements = [...VIPS, ...INNER].map((address): Announcement => {
    const scope = INNER.includes(address) ? 'tenant' : 'fabric'
    return { address, scope, domain: DOMAIN, by: { via: 'l2' }, takeover: true }
  })
  const other = name === 'node1' ? 'node2' : 'node1'
  expect((await node(name).lab.announcer.apply(announcements, signal)).filter(({ error }) => error)).toEqual([])
  await node(other).lab.announcer.apply([], signal)
  // The other node defended the addresses until it released them, so clients may have its hardware address.
  for (const place of ['client', 'red2']) await arrangement.run(place, 'ip neigh flush all')
}

const settings = (fields: Partial<Settings> = {}): Settings => ({
  first: ADDRESS.node1,
  firstNode: 'n1',
  next: null,
  leavingSince: null,
  since: '2026-01-01T00:00:00.000Z',
  seconds: 60,
  ...fields,
})

const inDomain = (name: Name, command: string): Promise<string> =>
  arrangement.run(name, `nsenter --net=${node(name).lab.domains.netns(DOMAIN)} ${command}`)

/** How many packets a node has forwarded. */
async function sentOn(name: Name): Promise<number> {
  const rules = await inDomain(name, 'nft list ruleset')
  return [...rules.matchAll(/counter packets (\d+) bytes \d+ dup/g)].reduce((sum, [, count]) => sum + Number(count), 0)
}

const stray = async (fields: { port?: number; dscp?: number; count?: number } = {}): Promise<number> => {
  const { port = 80, dscp = 0, count = 1 } = fields
  const argv = ['10.9.0.9', '33333', VIPS[0], port, dscp, count]
  return Number(await arrangement.run('client', `python3 ${STRAY} ${argv.join(' ')}`))
}

/** All second-chance tables of a node. */
async function leftovers(name: Name): Promise<readonly string[]> {
  const tables = [await inDomain(name, 'nft list tables'), await arrangement.run(name, 'nft list tables')]
  return tables.flatMap((text) => text.split('\n')).filter((line) => line.includes('second-chance'))
}

const openBoth = () => Promise.all(VIPS.map(async (address) => (await client.open(address, 80)).connection))

beforeEach(() => announcedBy('node1'))
afterEach(async () => {
  for (const { chance } of nodes.values()) await chance.configure(null)
})

describe('connections of the proxy', () => {
  it('end with a move when nobody is told of it', async () => {
    const connections = await openBoth()
    await announcedBy('node2')
    for (const connection of connections) expect(await client.say(connection, 'more')).not.toBe('more')
  })

  it('go on where they are, over both families, while new ones go to the new node', async () => {
    const connections = await openBoth()
    await node('node2').chance.configure(settings())
    await announcedBy('node2')
    for (const text of ['more', 'x'.repeat(20_000), 'and more'])
      for (const connection of connections) expect(await client.say(connection, text)).toBe(text)
    const before = await sentOn('node2')
    expect(before).toBeGreaterThan(0)
    for (const address of VIPS) expect(await client.connect(address, 80)).toBe('red1 10.0.0.251')
    expect(await client.connect(VIPS[0]!, 81)).toBe('red1 10.0.0.251')
    const fresh = await openBoth()
    for (let count = 0; count < 50; count++)
      for (const connection of fresh) expect(await client.say(connection, 'here')).toBe('here')
    // Late acknowledgements of the other connections may have been forwarded.
    expect(await sentOn('node2')).toBeLessThanOrEqual(before + 4)
    for (const connection of [...connections, ...fresh]) await client.close(connection)
  })

  it('go on although another proxied domain could not be made', async () => {
    const { chance, entry } = node('node2')
    const lost = wanted('lost', domainEntry(2, { returnPath: 'snat', gateway: null }), {
      vips: [vip('10.9.0.101')],
      services: [service('lost', 80, 7, { protocol: 'tcp-proxy' })],
      pools: [pool(7, [member('m2', '10.0.0.11')], { mode: 'tcp-proxy', slots: null })],
    })
    await chance.apply({ put: [], remove: [entry.key] })
    await chance.apply({ put: [lost, entry], remove: [] })
    const [connection] = await openBoth()
    await chance.configure(settings())
    await announcedBy('node2')
    expect(await client.say(connection!, 'more')).toBe('more')
    await chance.apply({ put: [], remove: [lost.key] })
    await client.close(connection!)
  })

  it('go on where they are at addresses of the tenant network, too', async () => {
    const inner = arrangement.peer('red2')
    const open = () => Promise.all(INNER.map(async (address) => (await inner.open(address, 80)).connection))
    const connections = await open()
    await node('node2').chance.configure(settings())
    await announcedBy('node2')
    const before = await sentOn('node2')
    for (const text of ['more', 'x'.repeat(20_000), 'and more'])
      for (const connection of connections) expect(await inner.say(connection, text)).toBe(text)
    expect(await sentOn('node2')).toBeGreaterThan(before)
    // The new node serves new connections itself, and forwards nothing of them.
    const then = await sentOn('node2')
    for (const address of INNER) expect(await inner.connect(address, 80)).toBe('red1 10.0.0.251')
    expect(await inner.connect(INNER[0]!, 81)).toBe('red1 10.0.0.251')
    expect(await sentOn('node2')).toBeLessThanOrEqual(then + 4)
    // With settings that name no node on the segment, it cannot forward packets of clients there.
    await node('node2').chance.configure(settings({ firstNode: 'n3', since: '2026-01-01T00:00:01.000Z' }))
    for (const connection of connections) expect(await inner.say(connection, 'more')).not.toBe('more')
  })

  it('go on where they are also when they have the ports of others that the proxy of the new node closed', async () => {
    const open = () => Promise.all(VIPS.map((address, at) => client.open(address, 80, { sourcePort: 42_100 + at })))
    const before = await open()
    const endings = before.map(({ connection }) => client.ending(connection))
    await arrangement.peer('red1').part('end')
    expect(await Promise.all(endings)).toEqual(['ended', 'ended'])
    for (const { connection } of before) await client.close(connection)
    await announcedBy('node2')
    const opened = await open()
    await node('node1').chance.configure(settings({ first: ADDRESS.node2, firstNode: 'n2' }))
    await announcedBy('node1')
    for (const { connection } of opened) expect(await client.say(connection, 'more')).toBe('more')
    for (const { connection } of opened) await client.close(connection)
  })

  it('are refused once the time is up, by the kernel alone', async () => {
    const [connection] = await openBoth()
    await node('node2').chance.configure(settings({ seconds: 1 }))
    await announcedBy('node2')
    const forgotten = async () => !/elements/.test(await inDomain('node2', 'nft list set ip spout-second-chance doors'))
    await waitFor(forgotten, { what: 'the kernel to forget the front ends' })
    expect(await client.say(connection!, 'more')).not.toBe('more')
    await node('node2').chance.observe()
    expect(await leftovers('node2')).toEqual([])
  })

  it('have as long after another move between the same nodes', async () => {
    const { chance } = node('node2')
    await chance.configure(settings({ seconds: 60 }))
    const secondsLeft = async () => {
      const set = await inDomain('node2', 'nft list set ip spout-second-chance doors')
      return Number(/expires (?:1m)?(\d+)s/.exec(set)?.[1])
    }
    await waitFor(async () => (await secondsLeft()) < 58, { what: 'time to pass' })
    const askedAt = performance.now()
    await chance.configure(settings({ seconds: 60, since: '2026-01-01T00:00:01.000Z' }))
    const left = await secondsLeft()
    // A busy machine may need seconds for that.
    expect(left + (performance.now() - askedAt) / 1000).toBeGreaterThanOrEqual(58)
    await chance.configure(null)
  })

  it('are refused at once when the node that was left does not answer', async () => {
    const connections = await openBoth()
    await node('node2').chance.configure(settings({ first: '10.9.0.77' }))
    await announcedBy('node2')
    for (const connection of connections) expect(await client.say(connection, 'more')).not.toBe('more')
    expect(await leftovers('node2')).toEqual([])
  })

  it('are given up when the node that was left goes silent', async () => {
    const { chance } = node('node2')
    await chance.configure(settings())
    expect((await leftovers('node2')).length).toBeGreaterThan(0)
    await arrangement.run('node1', 'ip link set dev fab0 down')
    try {
      await chance.observe()
      expect((await leftovers('node2')).length).toBeGreaterThan(0)
      await chance.observe()
      expect(await leftovers('node2')).toEqual([])
    } finally {
      await arrangement.run('node1', 'ip link set dev fab0 up')
      await arrangement.run('node1', 'ip -6 address replace fd09::1/64 dev fab0 nodad')
    }
  })
})

describe('a packet that belongs to no connection', () => {
  it('is sent on once and refused, also where two nodes name each other', async () => {
    for (const [name, first] of [
      ['node1', ADDRESS.node2],
      ['node2', ADDRESS.node1],
    ] as const)
      await node(name).chance.configure(settings({ first }))
    await announcedBy('node2')
    // A client may pass over an announcement that follows another within a second (`locktime`, `man 7 arp`).
    const turned = async () => (await stray()) === 1 && (await sentOn('node2')) > 0
    await waitFor(turned, { what: 'the client to turn to the second node' })
    const [before, elsewhere] = [await sentOn('node2'), await sentOn('node1')]
    expect(await stray({ count: 20 })).toBe(20)
    expect(await sentOn('node2')).toBe(before + 20)
    expect(await sentOn('node1')).toBe(elsewhere)
  })

  it('is refused where it comes when it claims to have been sent on', async () => {
    await node('node2').chance.configure(settings())
    await announcedBy('node2')
    for (const dscp of [43, 47]) expect(await stray({ dscp })).toBe(1)
    expect(await sentOn('node2')).toBe(0)
  })

  it('is sent from the node drained last to the one before it', async () => {
    // node2 forwards packets that are marked as forwarded to node1, which has the connections.
    await node('node2').chance.configure(settings({ first: null, next: ADDRESS.node1 }))
    await announcedBy('node2')
    expect(await stray({ dscp: 43 })).toBe(1)
    expect(await sentOn('node2')).toBe(1)
    expect(await stray()).toBe(1)
    expect(await sentOn('node2')).toBe(1)
  })

  it('gets nowhere at a port without a service, and is sent on once at a service of the packet path', async () => {
    await node('node2').chance.configure(settings())
    await announcedBy('node2')
    await stray({ port: 82 })
    expect(await sentOn('node2')).toBe(0)
    await stray({ port: 81 })
    expect(await sentOn('node2')).toBe(1)
  })
})

describe('what is in the kernel', () => {
  it('is taken over by the next agent, and removed when nobody wants it', async () => {
    const { chance, lab, entry } = node('node2')
    await chance.configure(settings())
    const next = new SecondChance({ config: lab.config, helper: lab.helper, log: silent })
    await next.adopt([entry])
    await next.configure(settings())
    expect(next.counters.transactions).toBe(0)
    const last = new SecondChance({ config: lab.config, helper: lab.helper, log: silent })
    await last.configure(null)
    expect(last.counters.transactions).toBe(1)
    expect(await leftovers('node2')).toEqual([])
    await chance.configure(settings({ since: '2026-01-01T00:00:01.000Z' }))
    await chance.configure(null)
  })
})
