import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { recordFault } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Announcement } from '../contracts/announcer.ts'
import type { WantedEntry } from '../contracts/driver.ts'
import { run } from '../domain/run.ts'
import { Arrangement, addAddress } from '../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../testing/entries.ts'
import { LabNode } from '../testing/lab-node.ts'
import { areSpread } from '../testing/vrrp/spread.ts'
import { pairSettings, VrrpNode } from '../testing/vrrp/vrrp-node.ts'

const FORGER = fileURLToPath(new URL('../testing/forger.py', import.meta.url))
const ROUNDS = 100
const REQUESTS = 600
const WITHIN = { timeout: 30_000, interval: 50 }
const signal = new AbortController().signal
const red = domainEntry(1)
const blue = domainEntry(2, { segment: { physicalNetwork: 'blue', vlan: null } })

/** Announced by `l2`. Served by a member of the attacker's own tenant, whose address the attacker does not claim. */
const OWN_TENANT = wanted('red', red, {
  vips: [vip('10.9.0.210'), vip('fd09::210')],
  services: [service('red-80', 80, 5)],
  pools: [pool(5, [member('m2', '10.0.0.12'), member('m4', 'fd01::12')])],
})
/** On the fabric announced by `vrrp`, on the tenant's segment by `l2`. */
const OTHER_TENANT = wanted('blue', blue, {
  vips: [vip('10.9.0.211'), vip('fd09::211'), vip('10.0.0.211', 'tenant'), vip('fd01::211', 'tenant')],
  services: [service('blue-80', 80, 6)],
  pools: [pool(6, [member('m1', '10.0.0.11'), member('m3', 'fd01::11')])],
})

/** Clients, the addresses that they connect to, and the answers of the right members. */
const ASKED = [
  { host: 'client', address: '10.9.0.210', answer: 'red2 10.9.0.9' },
  { host: 'client', address: 'fd09::210', answer: 'red2 fd09::9' },
  { host: 'client', address: '10.9.0.211', answer: 'blue1 10.9.0.9' },
  { host: 'client', address: 'fd09::211', answer: 'blue1 fd09::9' },
  { host: 'blue9', address: '10.0.0.211', answer: 'blue1 10.0.0.250' },
  { host: 'blue9', address: 'fd01::211', answer: 'blue1 fd01::250' },
] as const

/** VIPs of all, the nodes and the client on the fabric, and the other tenant's member, VIP and host. */
const CLAIMED = [
  ...ASKED.map(({ address }) => address),
  ...['10.9.0.1', '10.9.0.2', '10.9.0.9', 'fd09::1', 'fd09::2', 'fd09::9'],
  ...['10.0.0.11', 'fd01::11'],
]

let lab: Arrangement
let node: LabNode
let first: VrrpNode
let second: VrrpNode

beforeAll(async () => {
  lab = await Arrangement.create()
  await addHost('blue9', 'blue', ['10.0.0.99/24', 'fd01::99/64'])
  node = await LabNode.start(lab, 'node1')
  await node.domains.adopt([])
  await node.domains.apply({ put: [red, blue], remove: [] }, signal)
  first = new VrrpNode(lab, 'node1')
  second = new VrrpNode(lab, 'node2')
  for (const [index, each] of [first, second].entries()) {
    await each.startAgent()
    await each.announcer.configure(pairSettings(index === 0 ? 1 : 2), signal)
    each.announcer.setHealthy(true, '')
    // In favour of the attacker: the kernel does not drop an advert because of its interface.
    await lab.run(each.place, 'sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.red0.rp_filter=0')
  }
  await serve(OWN_TENANT, OTHER_TENANT)
})

afterAll(async () => {
  await first?.end()
  await second?.end()
  await node?.end([red.number, blue.number])
  await lab?.[Symbol.asyncDispose]()
})

async function addHost(host: string, bridge: string, addresses: readonly string[]): Promise<void> {
  const namespace = lab.namespace(host)
  const inside = ['link set dev lo up', 'link set dev eth0 up', ...addresses.map((it) => addAddress(it, 'eth0'))]
  await run('ip', ['netns', 'add', namespace])
  await lab.run(host, 'sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.default.dad_transmits=0')
  const link = `link add name ${host}-eth0 type veth peer name eth0 netns ${namespace}`
  const port = [link, `link set dev ${host}-eth0 master ${bridge}`, `link set dev ${host}-eth0 up`]
  await run('ip', ['-n', lab.namespace('switch'), '-batch', '-'], port.join('\n'))
  await run('ip', ['-n', namespace, '-batch', '-'], inside.join('\n'))
  lab.adopt(host, namespace)
}

async function serve(...entries: readonly WantedEntry[]): Promise<void> {
  await node.driver.apply({ put: entries, remove: [] }, signal)
  const own = (entry: WantedEntry, scope: Announcement['scope'], by: Announcement['by']): readonly Announcement[] =>
    entry.entry.vips
      .filter((each) => each.scope === scope)
      .map(({ address }) => ({ address, scope, domain: entry.entry.domain, by }))
  const byL2 = [...own(OWN_TENANT, 'fabric', { via: 'l2' }), ...own(OTHER_TENANT, 'tenant', { via: 'l2' })]
  const byVrrp = own(OTHER_TENANT, 'fabric', { via: 'vrrp', shard: 1 })
  expect((await node.announcer.apply(byL2, signal)).filter(({ error }) => error !== null)).toEqual([])
  for (const { announcer } of [first, second]) await announcer.apply(byVrrp, signal)
}

const ask = ({ host, address }: { readonly host: string; readonly address: string }): Promise<string> =>
  lab.peer(host).connect(address, 80)

const states = () => [first, second].flatMap(({ announcer }) => announcer.shards().map(({ state }) => state))
const moves = () =>
  [first, second].flatMap(({ announcer }) => announcer.shards().map(({ takeovers, since }) => `${takeovers} ${since}`))

const macOf = async (place: string, command: string): Promise<string> =>
  ((await lab.run(place, command)).match(/"address":"([0-9a-f:]+)"/) ?? [])[1] ?? ''
const neighbour = async (place: string, address: string): Promise<string> =>
  ((await lab.run(place, `ip -j neigh show to ${address}`)).match(/"lladdr":"([0-9a-f:]+)"/) ?? [])[1] ?? ''
/** VRRP packets to this node that no peer sent over the fabric. */
const refusedAdverts = async ({ place, config }: VrrpNode): Promise<number> => {
  const shown = await lab.run(place, `nft list table inet spout-${config.instance}-vrrp`)
  return Number(shown.match(/counter packets ([0-9]+)/)?.[1])
}

/** Starts a program on the tenant's host that claims all addresses, round after round, until it is stopped. */
async function startForger(): Promise<{ child: ChildProcess; last: () => { rounds: number; diverted: number } }> {
  const plan = {
    dev: 'eth0',
    addresses: CLAIMED,
    to: await Promise.all([
      macOf('node1', 'ip -j link show dev red0'),
      macOf('node2', 'ip -j link show dev red0'),
      macOf('node1', `nsenter --net=/run/netns/${node.config.instance}-d1 ip -j link show dev segment`),
    ]),
    routers: [
      ['10.9.0.2', '10.9.0.1'],
      ['10.9.0.1', '10.9.0.2'],
    ],
    vrids: [61, 62],
  }
  const command = ['netns', 'exec', lab.namespace('red9'), 'python3', FORGER, JSON.stringify(plan)]
  const child = spawn('ip', command, { stdio: ['ignore', 'pipe', 'inherit'] })
  let last = { rounds: 0, diverted: 0 }
  createInterface({ input: child.stdout! }).on('line', (line) => {
    last = JSON.parse(line)
  })
  return { child, last: () => last }
}

describe('a tenant that forges ARP, neighbour advertisements and VRRP adverts', () => {
  it('diverts nothing of other tenants and of the VIPs on the fabric', async () => {
    await expect.poll(() => areSpread([first, second]), WITHIN).toBe(true)
    await expect.poll(() => Promise.all(ASKED.map(ask)), WITHIN).toEqual(ASKED.map(({ answer }) => answer))
    const before = moves()
    const refused = await refusedAdverts(first)
    const client = lab.peer('client')
    const open = await Promise.all(
      ASKED.map(async ({ host, address }) => ({ host, ...(await lab.peer(host).open(address, 80)) })),
    )
    // A host on the attacker's segment accepts its gratuitous frames, which shows that they are well formed.
    for (const address of ['10.9.0.210', 'fd09::210'])
      await lab.run('red1', `ip neigh replace ${address} lladdr 02:00:00:00:00:99 dev eth0 nud stale`)
    const forger = await startForger()
    let asked = 0
    const wrong: string[] = []
    try {
      const ofTheForger = await macOf('red9', 'ip -j link show dev eth0')
      for (const address of ['10.9.0.210', 'fd09::210'])
        await expect.poll(() => neighbour('red1', address), WITHIN).toBe(ofTheForger)
      while (forger.last().rounds < ROUNDS || asked < REQUESTS) {
        const answers = await Promise.all(ASKED.map(ask))
        const heard = await Promise.all(open.map(({ host, connection }) => lab.peer(host).say(connection, 'hello')))
        asked += answers.length + heard.length
        wrong.push(...answers.filter((answer, index) => answer !== ASKED[index]!.answer))
        wrong.push(...heard.filter((word) => word !== 'hello'))
        expect(forger.child.exitCode).toBe(null)
      }
    } finally {
      forger.child.kill('SIGKILL')
    }
    expect(wrong).toEqual([])
    expect(forger.last().diverted).toBe(0)
    // Nobody became master for it, though the adverts did arrive.
    expect(await refusedAdverts(first)).toBeGreaterThan(refused)
    expect(moves()).toEqual(before)
    expect(states()).toEqual(['master', 'backup', 'backup', 'master'])
    const owner = await macOf('node1', 'ip -j link show dev fab0')
    for (const { host, address } of ASKED) if (host === 'client') expect(await neighbour(host, address)).toBe(owner)
    for (const { host, connection } of open) await lab.peer(host).close(connection)
    expect(await client.connect('10.9.0.211', 80)).toBe('blue1 10.9.0.9')
    recordFault({
      fault: 'tenant: forged ARP, NA and VRRP',
      outcome: 'nothing of others is diverted, nothing moves',
      figure: `${forger.last().diverted} packets diverted in ${forger.last().rounds} rounds, ${asked} answers right`,
    })
  })
})
