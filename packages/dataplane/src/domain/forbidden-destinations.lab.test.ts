import { mkdtemp, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DomainEntry } from '@spout/model/node-state'
import { recordFault } from '@spout/testkit'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Announcement } from '../contracts/announcer.ts'
import { HaproxyDriver } from '../drivers/haproxy/haproxy-driver.ts'
import { SystemHost } from '../drivers/haproxy/place/proxy-host.ts'
import { proxyPlaceOf } from '../drivers/haproxy/place/proxy-place.ts'
import { endLeftProxies } from '../drivers/haproxy/processes/left-proxies.ts'
import { Arrangement } from '../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../testing/entries.ts'
import { labPrefix } from '../testing/lab-names.ts'
import { LabNode, silent } from '../testing/lab-node.ts'
import { type From, SILENCE_MS } from '../testing/peer-client.ts'
import { run } from './run.ts'

// The destinations that the node itself refuses, whatever the control plane admitted. Entries go directly to the domain
// and the drivers, with members that validation would refuse. A host on the tenant's segment has all their addresses,
// serves there, and counts packets.

const signal = new AbortController().signal
const VIPS = ['10.9.0.100', 'fd09::100']
const PROTECTED = { 4: '10.0.0.12', 6: 'fd01::12' } as const
/** Addresses of red2: management addresses on the segment, and what routes of the tenant lead to. */
const FORBIDDEN = [
  ...Object.values(PROTECTED),
  ...['169.254.169.254', '127.9.9.9', '240.0.0.9'],
  ...['fd00:ec2::254', '64:ff9b::a63:304', '64:ff9b:1::a63:304', '2002:a63:304::1', '2001:0:a63:304::1', '::10.99.3.4'],
]
const ALLOWED = ['10.0.0.11', 'fd01::11', '10.244.3.11', 'fd44:3::11']

const routes = [...FORBIDDEN.slice(2), '10.244.3.11', 'fd44:3::11'].map((address) => ({
  to: address.includes(':') ? `${address}/128` : `${address}/32`,
  via: `${address.includes(':') ? 'fd01::' : '10.0.0.'}${ALLOWED.includes(address) ? 11 : 12}`,
}))
const domains: Readonly<Record<string, DomainEntry>> = {
  gateway: domainEntry(1, { routes }),
  snat: domainEntry(1, { routes, returnPath: 'snat', gateway: null }),
}
const untracked = domainEntry(1, { routes, untracked: true })

let lab: Arrangement
let node: LabNode
let proxy: HaproxyDriver
let host: SystemHost
let runDirectory: string
const cgroup = labPrefix()

beforeAll(async () => {
  lab = await Arrangement.create()
  runDirectory = await mkdtemp(join(tmpdir(), 'spt-'))
  host = await SystemHost.probe(cgroup)
  const protectedCidrs = [`${PROTECTED[4]}/32`, `${PROTECTED[6]}/128`]
  node = await LabNode.start(lab, 'node1', (id) => proxy.proxyPort(id), 0, { protectedCidrs })
  proxy = new HaproxyDriver({ place: proxyPlaceOf(node.config), host, log: silent, options: { runDirectory } })
  await node.domains.adopt([])
  for (const [place, addresses] of [
    ['red1', ALLOWED.slice(2)],
    ['red2', FORBIDDEN.slice(2)],
  ] as const) {
    await lab.run(place, 'sysctl -qw net.ipv4.conf.all.route_localnet=1')
    const lines = addresses.map((each) => `address add ${each}/${each.includes(':') ? 128 : 32} dev eth0`)
    await run('ip', ['-n', lab.namespace(place), '-batch', '-'], lines.join('\n'))
    // Counts all packets to members, except neighbour discovery.
    const counters = `table inet heard { counter members {}
      chain heard {
        type filter hook prerouting priority raw;
        meta l4proto { tcp, udp, icmp } counter name members
        icmpv6 type echo-request counter name members
      }
    }`
    await run('ip', ['netns', 'exec', lab.namespace(place), 'nft', '-f', '-'], counters)
  }
})
afterEach(async () => {
  await node.announcer.apply([], signal)
  for (const driver of [proxy, node.driver]) await driver.apply({ put: [], remove: ['lb/a'] }, signal)
})
afterAll(async () => {
  await proxy?.close()
  if (host !== undefined) await endLeftProxies(runDirectory, new Set(), host)
  await node?.end([1])
  await lab?.[Symbol.asyncDispose]()
  await rm(runDirectory, { recursive: true, force: true })
  for (const controller of ['memory', 'pids', 'cpu'])
    await rmdir(`/sys/fs/cgroup/${controller}/${cgroup}`).catch(() => {})
})

/** Packets that a place got since the last call. */
const heard = async (place: string): Promise<number> =>
  Number(/packets (\d+)/.exec(await lab.run(place, 'nft reset counters table inet heard'))![1])

const put = async (entry: DomainEntry): Promise<void> =>
  expect(await node.domains.apply({ put: [entry], remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])

/** Applies an entry in which each member has ports of its own: forwarded TCP and UDP, and proxied TCP. */
async function balance(entry: DomainEntry, addresses: readonly string[], forwards: boolean): Promise<void> {
  await put(entry)
  const one = wanted('a', entry, {
    vips: VIPS.map((address) => vip(address)),
    services: addresses.flatMap((_, at) => [
      ...(forwards ? [service(`t${at}`, 1000 + at, 10 + at)] : []),
      ...(forwards ? [service(`u${at}`, 2000 + at, 10 + at, { protocol: 'udp' as const })] : []),
      service(`p${at}`, 3000 + at, 50 + at, { protocol: 'tcp-proxy' }),
    ]),
    pools: addresses.flatMap((address, at) => [
      ...(forwards ? [pool(10 + at, [member(`m${at}`, address)])] : []),
      pool(50 + at, [member(`q${at}`, address)], { mode: 'tcp-proxy', slots: null }),
    ]),
  })
  for (const driver of [proxy, node.driver])
    expect((await driver.apply({ put: [one], remove: [] }, signal)).filter(({ state }) => state === 'failed')).toEqual(
      [],
    )
  const announcements = VIPS.map(
    (address): Announcement => ({ address, scope: 'fabric', domain: 1, by: { via: 'l2' } }),
  )
  expect((await node.announcer.apply(announcements, signal)).filter(({ error }) => error !== null)).toEqual([])
}

/** Over which protocols a client is to be answered. */
interface Answered {
  readonly connection: boolean
  readonly datagram: boolean
}
const patience = (answered: boolean): From => (answered ? {} : { withinMs: SILENCE_MS })

/** Tries to reach each member in every way at once. @returns the addresses of the answers */
async function knock(
  addresses: readonly string[],
  forwards: boolean,
  answers: (address: string) => Answered,
): Promise<readonly string[]> {
  const client = lab.peer('client')
  const netns = node.domains.netns(1)
  const asked = addresses.map(async (address, at) => {
    const vipOf = VIPS[address.includes(':') ? 1 : 0]!
    const probed = { netns, address, port: 8080, timeoutMs: 500 }
    const { connection, datagram } = answers(address)
    const heardOf = await Promise.all([
      ...(forwards
        ? [
            client.connect(vipOf, 1000 + at, patience(connection)),
            client.datagram(vipOf, 2000 + at, patience(datagram)),
          ]
        : []),
      client.connect(vipOf, 3000 + at, patience(connection)),
      node.helper.connect(probed).then(({ connected }) => (connected ? 'red probed' : 'no')),
      node.helper.ping(probed).then(({ answered }) => (answered ? 'red pinged' : 'no')),
      node.helper.udp(probed).then(({ answered }) => (answered ? 'red answered' : 'no')),
    ])
    return heardOf.filter((answer) => answer.startsWith('red')).map(() => address)
  })
  return (await Promise.all(asked)).flat()
}

it.each([...Object.entries(domains), ['untracked', untracked] as const])(
  'nothing reaches forbidden, management and translated addresses that validation let pass, return path %s',
  async (name, entry) => {
    const forwards = name !== 'untracked'
    const ways = forwards ? 6 : 4
    await balance(entry, ALLOWED, forwards)
    await heard('red1')
    // A member answers a datagram as its first address, which is not the one that was asked behind a route.
    const silentWays = (at: number) => (at < 2 ? 0 : forwards ? 2 : 1)
    const allowed = (address: string) => ({ connection: true, datagram: ALLOWED.indexOf(address) < 2 })
    expect(await knock(ALLOWED, forwards, allowed)).toEqual(
      ALLOWED.flatMap((address, at) => Array(ways - silentWays(at)).fill(address)),
    )
    expect(await heard('red1')).toBeGreaterThan(ALLOWED.length * ways)

    await balance(entry, FORBIDDEN, forwards)
    await heard('red2')
    expect(await knock(FORBIDDEN, forwards, () => ({ connection: false, datagram: false }))).toEqual([])
    const reached = await heard('red2')
    expect(reached).toBe(0)
    recordFault({
      fault: `validation off: ${FORBIDDEN.length} forbidden addresses as members, ${ways} ways to each (${name})`,
      outcome: 'the node itself drops what begins: forwarded, proxied, probed',
      figure: `${reached} packets`,
    })
  },
  60_000,
)
