import { waitFor } from '@spout/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Announcement } from '../contracts/announcer.ts'
import { Arrangement } from '../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../testing/entries.ts'
import { LabNode, silent } from '../testing/lab-node.ts'
import { type Peer, SILENCE_MS } from '../testing/peer-client.ts'
import { SecondChance } from './second-chance.ts'
import { usualHops } from './usual-hops.ts'

/**
 * Two nodes whose members see an address of each node, as in a cluster. The address moves without a plan, as when an
 * agent ends, and the node that had it lives. Only that node can carry on the flows that it translates.
 */

const signal = new AbortController().signal
const DOMAIN = 1
const VIPS = ['10.9.0.100', 'fd09::100']
const ADDRESS = { node1: '10.9.0.1', node2: '10.9.0.2' } as const
type Name = keyof typeof ADDRESS
const SENT_ON = /counter packets (\d+) bytes \d+ dup/g

interface Node {
  readonly lab: LabNode
  readonly chance: SecondChance
}

let arrangement: Arrangement
let client: Peer
const nodes = new Map<Name, Node>()
const node = (name: Name): Node => nodes.get(name)!
const other = (name: Name): Name => (name === 'node1' ? 'node2' : 'node1')

const domain = (index: number) =>
  domainEntry(DOMAIN, {
    returnPath: 'snat',
    gateway: null,
    subnets: [
      { cidr: '10.0.0.0/24', nodeAddress: `10.0.0.${250 + index}`, gatewayIp: null, sharedAddress: null },
      { cidr: 'fd01::/64', nodeAddress: `fd01::${250 + index}`, gatewayIp: null, sharedAddress: null },
    ],
  })

const entry = (index: number, id: string, vips: readonly string[]) =>
  wanted(id, domain(index), {
    vips: vips.map((address) => vip(address)),
    services: [service('tcp', 80, 5)],
    pools: [pool(5, [member('m1', '10.0.0.11'), member('m2', 'fd01::11')])],
  })

beforeAll(async () => {
  arrangement = await Arrangement.create()
  client = arrangement.peer('client')
  for (const [index, name] of (['node1', 'node2'] as const).entries()) {
    const lab = await LabNode.start(arrangement, name)
    const chance = new SecondChance({ config: lab.config, helper: lab.helper, log: silent })
    nodes.set(name, { lab, chance })
    await lab.domains.adopt([])
    await lab.domains.apply({ put: [domain(index)], remove: [] }, signal)
    await lab.driver.apply({ put: [entry(index, 'a', VIPS)], remove: [] }, signal)
    await chance.apply({ put: [entry(index, 'a', VIPS)], remove: [] })
    await chance.configure(null, usualHops({ source: ADDRESS[name], peers: [ADDRESS[other(name)]] }))
  }
})

afterAll(async () => {
  for (const { lab } of nodes.values()) await lab.end([DOMAIN])
  await arrangement?.[Symbol.asyncDispose]()
})

/** Leads clients to this node. */
async function moveTo(name: Name): Promise<void> {
  const announcements = VIPS.map(
    (address): Announcement => ({ address, scope: 'fabric', domain: DOMAIN, by: { via: 'l2' }, takeover: true }),
  )
  expect((await node(name).lab.announcer.apply(announcements, signal)).filter(({ error }) => error)).toEqual([])
  await node(other(name)).lab.announcer.apply([], signal)
  // A client may pass over an announcement that follows another within a second (`locktime`, `man 7 arp`).
  await arrangement.run('client', 'ip neighbour flush dev eth0')
}

const table = (name: Name, ip: 'ip' | 'ip6' = 'ip'): Promise<string> =>
  arrangement.run(
    name,
    `nsenter --net=${node(name).lab.domains.netns(DOMAIN)} nft list table ${ip} spout-second-chance`,
  )

const sentOn = async (name: Name): Promise<number> =>
  [...(await table(name)).matchAll(SENT_ON)].reduce((sum, [, count]) => sum + Number(count), 0)

beforeEach(() => moveTo('node1'))

describe('the address goes to the other node, and nobody planned it', () => {
  it.each(VIPS)('flows to %s that began before go on at the node that was left', async (address) => {
    const { connection, line } = await client.open(address, 80)
    expect(line).toMatch(/^red1 (10\.0\.0\.250|fd01::250)$/)
    await moveTo('node2')
    for (const text of ['more', 'x'.repeat(20_000)]) expect(await client.say(connection, text)).toBe(text)
    await moveTo('node1')
    expect(await client.say(connection, 'and back')).toBe('and back')
    await client.close(connection)
  })

  it('flows that begin afterwards are the new node’s, and nothing of them is sent on', async () => {
    await moveTo('node2')
    const before = await sentOn('node2')
    const { connection, line } = await client.open(VIPS[0]!, 80)
    expect(line).toBe('red1 10.0.0.251')
    expect(await client.say(connection, 'more')).toBe('more')
    expect(await sentOn('node2')).toBe(before)
    await client.close(connection)
  })

  it('a flow goes on although the new node remembers an earlier one of the same port', async () => {
    const from = { sourcePort: 40_123 }
    await moveTo('node2')
    // The member ends it first, so that the client may use the port again at once.
    const earlier = await client.open(VIPS[0]!, 80, from)
    expect(earlier.line).toBe('red1 10.0.0.251')
    await arrangement.peer('red1').part('end')
    expect(await client.ending(earlier.connection)).toBe('ended')
    await client.close(earlier.connection)
    await moveTo('node1')
    const { connection, line } = await client.open(VIPS[0]!, 80, from)
    expect(line).toBe('red1 10.0.0.250')
    await moveTo('node2')
    expect(await client.say(connection, 'more')).toBe('more')
    await client.close(connection)
  })

  it('packets of flows that no node knows are answered by a reset, and visit each node once', async () => {
    const { connection } = await client.open(VIPS[0]!, 80)
    const counts = async () => [await sentOn('node1'), await sentOn('node2')]
    for (const name of ['node1', 'node2'] as const)
      await arrangement.run(name, `nsenter --net=${node(name).lab.domains.netns(DOMAIN)} conntrack --flush`)
    const [first = 0, second = 0] = await counts()
    expect(await client.say(connection, 'more')).toBe('CLOSED')
    expect(await client.ending(connection)).toBe('ECONNRESET')
    expect(await counts()).toEqual([first + 1, second])
  })
})

describe('the tables', () => {
  const elements = (text: string): readonly string[] => [
    ...new Set([...text.matchAll(/\d+\.\d+\.\d+\.\d+ \. \d+/g)].map(([found]) => found)),
  ]
  const observed = (name: Name, wantedElements: readonly string[]) =>
    waitFor(
      async () => {
        await node(name).chance.observe()
        return JSON.stringify(elements(await table(name))) === JSON.stringify(wantedElements)
      },
      { what: `front ends ${wantedElements.join(', ')}` },
    )

  it('follow the load balancers', async () => {
    const { chance } = node('node1')
    await chance.apply({ put: [entry(0, 'b', ['10.9.0.101'])], remove: [] })
    await observed('node1', ['10.9.0.100 . 80', '10.9.0.101 . 80'])
    await chance.apply({ put: [], remove: [entry(0, 'b', []).key] })
    await observed('node1', ['10.9.0.100 . 80'])
  })

  it('follow a load balancer that comes while the other node is looked for', async () => {
    const { chance } = node('node1')
    const looking = chance.observe()
    await chance.apply({ put: [entry(0, 'c', ['10.9.0.102'])], remove: [] })
    await looking
    await observed('node1', ['10.9.0.100 . 80', '10.9.0.102 . 80'])
    await chance.apply({ put: [], remove: [entry(0, 'c', []).key] })
    await observed('node1', ['10.9.0.100 . 80'])
  })

  it('are loaded once, whatever is observed, and stay for the next agent', async () => {
    const { chance, lab } = node('node1')
    const { transactions } = chance.counters
    for (let look = 0; look < 5; look++) await chance.observe()
    await chance.close()
    expect(chance.counters.transactions).toBe(transactions)
    const next = new SecondChance({ config: lab.config, helper: lab.helper, log: silent })
    await next.adopt([entry(0, 'a', VIPS)])
    await next.configure(null, usualHops({ source: ADDRESS.node1, peers: [ADDRESS.node2] }))
    expect(next.counters.transactions).toBe(0)
    expect(elements(await table('node1'))).toEqual(['10.9.0.100 . 80'])
  })

  it('are those of a move while it is planned, and the usual ones again after its time', async () => {
    const { chance } = node('node2')
    const move = { leavingSince: null, since: '2026-01-01T00:00:00.000Z', first: ADDRESS.node1, next: null }
    await chance.configure({ ...move, seconds: 1 }, usualHops({ source: ADDRESS.node2, peers: [ADDRESS.node1] }))
    expect(await table('node2')).toContain('timeout 1s')
    await waitFor(
      async () => {
        await chance.observe()
        return !(await table('node2')).includes('timeout') && elements(await table('node2')).length === 1
      },
      { what: 'the usual table' },
    )
    // The control plane's entry names the move for a while after its time. Load balancers that come do not begin it anew.
    await chance.apply({ put: [entry(1, 'd', ['10.9.0.103'])], remove: [] })
    await chance.configure({ ...move, seconds: 1 }, usualHops({ source: ADDRESS.node2, peers: [ADDRESS.node1] }))
    expect(await table('node2')).not.toContain('timeout')
    await chance.apply({ put: [], remove: [entry(1, 'd', []).key] })
  })

  it('go when the other node is silent, and come back with it', async () => {
    const { chance } = node('node1')
    const isLoaded = async () => {
      await chance.observe()
      return table('node1').then(
        () => true,
        () => false,
      )
    }
    await arrangement.run('node2', 'ip link set dev fab0 down')
    await waitFor(async () => !(await isLoaded()), { what: 'the table to go', timeoutMs: 20 * SILENCE_MS })
    await arrangement.run('node2', 'ip link set dev fab0 up')
    await waitFor(isLoaded, { what: 'the table to come back' })
  })

  it('are gone where this node elects owners with nobody', async () => {
    await node('node1').chance.configure(null, usualHops(null))
    await expect(table('node1')).rejects.toThrow(/No such file/)
  })
})
