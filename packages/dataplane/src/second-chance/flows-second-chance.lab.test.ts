import type { SecondChance as Settings } from '@spout/model/node-state'
import { waitFor } from '@spout/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Announcement } from '../contracts/announcer.ts'
import { Arrangement } from '../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../testing/entries.ts'
import { LabNode, silent } from '../testing/lab-node.ts'
import { type Peer, SILENCE_MS } from '../testing/peer-client.ts'
import { SecondChance } from './second-chance.ts'

/**
 * Two nodes with an address that members see of both. The address has moved to the second node, but clients still reach
 * the first one, as with BGP until the routers learn of the move. No program replicates flows here.
 */

const signal = new AbortController().signal
const VIPS = ['10.9.0.100', 'fd09::100']
const SHARED = ['10.0.0.249', 'fd01::249']
const MEMBERS = [member('m1', '10.0.0.11'), member('m2', 'fd01::11')]
const NODE_ADDRESSES = { n1: ['10.0.0.250', 'fd01::250'], n2: ['10.0.0.251', 'fd01::251'] }
const ADDRESS = { node1: '10.9.0.1', node2: '10.9.0.2' } as const
type Name = keyof typeof ADDRESS

interface Node {
  readonly lab: LabNode
  readonly chance: SecondChance
}

let arrangement: Arrangement
let client: Peer
const nodes = new Map<Name, Node>()
const node = (name: Name): Node => nodes.get(name)!

beforeAll(async () => {
  arrangement = await Arrangement.create()
  client = arrangement.peer('client')
  for (const [index, name] of (['node1', 'node2'] as const).entries()) await start(name, index)
})

afterAll(async () => {
  for (const { lab } of nodes.values()) await lab.end([1])
  await arrangement?.[Symbol.asyncDispose]()
})

async function start(name: Name, index: number): Promise<void> {
  const subnet = (cidr: string, at: number) => ({
    cidr,
    nodeAddress: NODE_ADDRESSES[index === 0 ? 'n1' : 'n2'][at]!,
    gatewayIp: null,
    sharedAddress: SHARED[at]!,
  })
  const domain = domainEntry(1, {
    returnPath: 'snat',
    gateway: { via: 'vrrp', shard: 1 },
    subnets: [subnet('10.0.0.0/24', 0), subnet('fd01::/64', 1)],
    nodeAddresses: NODE_ADDRESSES,
  })
  const lab = await LabNode.start(arrangement, name)
  const chance = new SecondChance({ config: lab.config, helper: lab.helper, log: silent })
  const entry = wanted('a', domain, {
    vips: VIPS.map((address) => vip(address)),
    services: [service('tcp', 80, 5), service('udp', 80, 6, { protocol: 'udp' })],
    pools: [pool(5, MEMBERS), pool(6, MEMBERS)],
  })
  nodes.set(name, { lab, chance })
  await lab.domains.adopt([])
  await lab.domains.apply({ put: [domain], remove: [] }, signal)
  for (const driver of [lab.driver, chance])
    expect((await driver.apply({ put: [entry], remove: [] }, signal)).filter((one) => one.state === 'failed')).toEqual(
      [],
    )
}

/** Leads clients to this node. */
async function reachedAt(name: Name): Promise<void> {
  const announcements = VIPS.map(
    (address): Announcement => ({ address, scope: 'fabric', domain: 1, by: { via: 'l2' }, takeover: true }),
  )
  const other = name === 'node1' ? 'node2' : 'node1'
  expect((await node(name).lab.announcer.apply(announcements, signal)).filter(({ error }) => error)).toEqual([])
  await node(other).lab.announcer.apply([], signal)
  // A client may pass over an announcement that follows another within a second (`locktime`, `man 7 arp`).
  await arrangement.run('client', 'ip neighbour flush dev eth0')
}

const inDomain = (name: Name, command: string): Promise<string> =>
  arrangement.run(name, `nsenter --net=${node(name).lab.domains.netns(1)} ${command}`)

/** Leads packets of members to this node. */
async function sharedBy(name: Name): Promise<void> {
  const other = name === 'node1' ? 'node2' : 'node1'
  for (const address of SHARED) {
    const host = `${address}/${address.includes(':') ? 128 : 32}`
    if ((await inDomain(other, `ip address show dev segment to ${host}`)) !== '')
      await inDomain(other, `ip address delete ${host} dev segment`)
    await inDomain(name, `ip address replace ${host} dev segment${address.includes(':') ? ' nodad' : ''}`)
  }
  for (const member of ['red1', 'red2']) await arrangement.run(member, 'ip neighbour flush dev eth0')
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

beforeEach(async () => {
  await reachedAt('node1')
  await sharedBy('node1')
})
afterEach(async () => {
  for (const { chance } of nodes.values()) await chance.configure(null)
})

describe('flows of an address that has just moved', () => {
  it('begin at the node that was left, while clients still reach that one', async () => {
    await node('node2').chance.configure(settings())
    await sharedBy('node2')
    for (const [at, address] of VIPS.entries()) {
      const { connection, line } = await client.open(address, 80)
      expect(line).toBe(`red1 ${SHARED[at]}`)
      for (const text of ['more', 'x'.repeat(20_000)]) expect(await client.say(connection, text)).toBe(text)
      await client.close(connection)
      expect(await client.datagram(address, 80)).toContain('red1')
    }
  })

  it('go on when clients reach the new node before it knows them', async () => {
    const { connection } = await client.open(VIPS[0]!, 80)
    await node('node2').chance.configure(settings())
    await sharedBy('node2')
    await reachedAt('node2')
    for (const text of ['more', 'x'.repeat(20_000)]) expect(await client.say(connection, text)).toBe(text)
    await client.close(connection)
  })

  it('begin at the new node once clients reach it, and nothing of them is sent on', async () => {
    await node('node2').chance.configure(settings())
    await sharedBy('node2')
    await reachedAt('node2')
    const { connection, line } = await client.open(VIPS[0]!, 80)
    expect(line).toBe(`red1 ${SHARED[0]}`)
    expect(await client.say(connection, 'more')).toBe('more')
    await client.close(connection)
    expect(await inDomain('node2', 'nft list table ip spout-second-chance')).toMatch(/counter packets 0 bytes 0 dup/)
  })

  it('are forgotten by the kernel alone once the time is up', async () => {
    await node('node2').chance.configure(settings({ seconds: 1 }))
    const forgotten = async () => !/elements/.test(await inDomain('node2', 'nft list table ip spout-second-chance'))
    await waitFor(forgotten, { what: 'the kernel to forget the front ends' })
  })

  it('are not sent in circles where two nodes name each other', async () => {
    await node('node1').chance.configure(settings({ first: ADDRESS.node2, firstNode: 'n2' }))
    await node('node2').chance.configure(settings())
    await sharedBy('node2')
    expect(await arrangement.peer('red1').datagram(SHARED[0]!, 20_002, { withinMs: SILENCE_MS })).toBe('ETIMEDOUT')
    const sent = async (name: Name) =>
      [...(await inDomain(name, 'nft list table ip spout-second-chance')).matchAll(/counter packets (\d+)/g)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      )
    expect([await sent('node1'), await sent('node2')]).toEqual([0, 1])
  })
})
