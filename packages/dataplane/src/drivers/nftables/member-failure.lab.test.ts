import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WantedEntry } from '../../contracts/driver.ts'
import { Arrangement } from '../../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../../testing/entries.ts'
import { LabNode, silent } from '../../testing/lab-node.ts'
import { PacketPath } from '../../testing/packet-path.ts'
import type { Peer } from '../../testing/peer-client.ts'

const signal = new AbortController().signal
const red = domainEntry(1)
const VIP = '10.9.0.100'
const VIP6 = 'fd09::100'
const m1 = member('m1', '10.0.0.11')
const m2 = member('m2', '10.0.0.12')
const m6 = member('m6', 'fd01::11')
const m7 = member('m7', 'fd01::12')
const NAMES: Readonly<Record<string, string>> = { red1: 'm1', red2: 'm2' }
/** A host that serves nothing: connections are refused by its kernel. */
const dead = member('dead', '10.0.0.99')

let lab: Arrangement
let node: LabNode
let client: Peer
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spout-member-failure-'))
  lab = await Arrangement.create()
  node = await LabNode.start(lab, 'node1')
  client = lab.peer('client')
  await lab.run('client', 'ip route add 10.9.0.100/32 via 10.9.0.1')
  await lab.run('client', 'ip route add fd09::100/128 via fd09::1')
  await node.domains.adopt([])
  await node.domains.apply({ put: [red], remove: [] }, signal)
})

afterAll(async () => {
  await node?.domains.apply({ put: [], remove: [red.key] }, signal)
  await node?.die()
  await lab?.[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
})

type Members = Parameters<typeof pool>[1]
const entryOf = (
  members: Members,
  {
    down = [],
    shares = [],
    ...fields
  }: { down?: string[]; shares?: [string, number][] } & Parameters<typeof pool>[2] = {},
): WantedEntry => ({
  ...wanted(
    'a',
    red,
    {
      vips: [vip(VIP), vip(VIP6)],
      services: [service('l1', 80, 5), service('l2', 53, 6, { protocol: 'udp' })],
      pools: [pool(5, members, fields), pool(6, members, fields)],
    },
    down,
  ),
  shares: new Map(shares),
})

async function put(driver: PacketPath, entry: WantedEntry): Promise<void> {
  const applied = await driver.apply({ put: [entry], remove: [] }, signal)
  expect(applied).toMatchObject([{ state: 'programmed' }])
}

async function withDriver(work: (driver: PacketPath) => Promise<void>, drainFile?: string): Promise<void> {
  const { config, helper } = node
  const driver = new PacketPath({ config, helper, log: silent, leftoversGraceMs: 0, drainFile })
  await driver.adopt([])
  try {
    await work(driver)
  } finally {
    await driver.apply({ put: [], remove: ['lb/a'] }, signal)
    await driver.close()
    await lab.run('node1', `nsenter --net=/run/netns/${config.instance}-d1 conntrack -F`)
  }
}

/** Flows that the domain tracks. */
const tracked = (filter: string): Promise<string> =>
  lab.run('node1', `nsenter --net=/run/netns/${node.config.instance}-d1 conntrack -L ${filter}`)

/** The member that answers a datagram. */
const asked = async (sourcePort: number, address = VIP): Promise<string> =>
  (await client.datagram(address, 53, { sourcePort })).split(' ')[0] ?? ''

/** Repeats a question until the answer is as wanted; each question waits for its answer. */
async function until(question: () => Promise<string>, wish: (answer: string) => boolean): Promise<string> {
  const deadline = performance.now() + 10_000
  for (;;) {
    const answer = await question()
    if (wish(answer)) return answer
    if (performance.now() > deadline) throw new Error(`still ${answer}`)
  }
}

describe('a member that goes down', () => {
  it('loses its UDP flows at once; no flow of another member moves, whatever the slots say by now', () =>
    withDriver(async (driver) => {
      for (const [address, members] of [
        [VIP, [m1, m2]],
        [VIP6, [m6, m7]],
      ] as const) {
        // The flows begin while the second member has almost no slots. With its full share half of them would be its
        // own.
        const second = members[1]!.id
        await put(driver, entryOf(members, { shares: [[second, 1]] }))
        const ports = Array.from({ length: 24 }, (_, n) => 41_000 + n)
        const before = new Map<number, string>()
        for (const port of ports) before.set(port, await asked(port, address))
        expect([...before.values()].filter((name) => name === 'red1').length).toBeGreaterThan(16)
        await put(driver, entryOf(members))
        const moved = async () => {
          const answers = new Map<number, string>()
          for (const port of ports) answers.set(port, await asked(port, address))
          return answers
        }
        expect(await moved()).toEqual(before)
        await put(driver, entryOf(members, { down: [second] }))
        expect(new Set((await moved()).values())).toEqual(new Set(['red1']))
      }
    }))

  it('has no client meet it again that uses its port once more', () =>
    withDriver(async (driver) => {
      await put(driver, entryOf([dead, m1]))
      const ports: number[] = []
      for (let port = 42_000; ports.length < 5; port++)
        if ((await client.connect(VIP, 80, { sourcePort: port })) === 'ECONNREFUSED') ports.push(port)
      await put(driver, entryOf([dead, m1], { down: ['dead'] }))
      for (const sourcePort of ports) expect(await client.connect(VIP, 80, { sourcePort })).toBe('red1 10.9.0.9')
    }))

  it('has no connection wait for it that was not open yet', () =>
    withDriver(async (driver) => {
      await lab.run('red9', 'nft add table inet hole')
      await lab.run('red9', 'nft add chain inet hole input { type filter hook input priority 0 ; policy drop ; }')
      try {
        await put(driver, entryOf([dead]))
        const answer = client.connect(VIP, 80)
        await until(
          () => tracked('-p tcp --state SYN_SENT'),
          (flows) => flows.includes(`src=${dead.address}`),
        )
        await put(driver, entryOf([dead, m1], { down: ['dead'] }))
        // The client's kernel sends the SYN again after a second, and a member is chosen anew.
        expect(await answer).toBe('red1 10.9.0.9')
      } finally {
        await lab.run('red9', 'nft delete table inet hole')
      }
    }))

  it('keeps its TCP connections, for it may be the check that fails', () =>
    withDriver(async (driver) => {
      await put(driver, entryOf([m1]))
      const { connection, line } = await client.open(VIP, 80)
      expect(line).toBe('red1 10.9.0.9')
      await put(driver, entryOf([m1, m2], { down: ['m1'] }))
      expect(await client.connect(VIP, 80)).toBe('red2 10.9.0.9')
      expect(await client.say(connection, 'still there?')).toBe('still there?')
      await client.close(connection)
    }))

  it('resets them where the pool says so, and no other', () =>
    withDriver(async (driver) => {
      const fields = { resetOnDown: true }
      await put(driver, entryOf([m1, m2], fields))
      const flows = []
      for (let n = 0; n < 12; n++) flows.push(await client.open(VIP, 80))
      const gone = flows[0]!.line.split(' ')[0]!
      await put(driver, entryOf([m1, m2], { ...fields, down: [NAMES[gone]!] }))
      for (const { connection, line } of flows) {
        const answer = await client.say(connection, 'hello')
        expect(answer).toBe(line.startsWith(gone) ? 'CLOSED' : 'hello')
        await client.close(connection)
      }
    }))
})

describe('a member that leaves', () => {
  it.each([
    ['is removed', [m2]],
    ['has weight 0', [{ ...m1, weight: 0 }, m2]],
  ] as const)('%s: meets no client again that uses the port of a closed connection once more', (_, left) =>
    withDriver(async (driver) => {
      await put(driver, entryOf([m1]))
      const sourcePort = 42_100
      const { connection } = await client.open(VIP, 80, { sourcePort })
      await lab.run('red1', 'nft add table inet hole')
      await lab.run('red1', 'nft add chain inet hole input { type filter hook input priority 0 ; }')
      await lab.run('red1', 'nft add rule inet hole input tcp flags rst drop')
      try {
        await client.reset(connection)
        // If the member sends the last packet, conntrack takes the next SYN for the same connection.
        await lab.peer('red1').part('reset')
        await put(driver, entryOf(left))
        expect(await client.connect(VIP, 80, { sourcePort })).toBe('red2 10.9.0.9')
      } finally {
        await lab.run('red1', 'nft delete table inet hole')
      }
    }),
  )

  it.each([
    ['is removed', [m2]],
    ['has weight 0', [{ ...m1, weight: 0 }, m2]],
  ] as const)('%s: keeps its flows until the deadline, then they are cut', (_, left) =>
    withDriver(async (driver) => {
      const long = { drainMs: 3_600_000 }
      await put(driver, entryOf([m1], long))
      const { connection } = await client.open(VIP, 80)
      expect(await asked(43_000)).toBe('red1')
      await put(driver, entryOf(left, long))
      expect(await client.connect(VIP, 80)).toBe('red2 10.9.0.9')
      expect(await client.say(connection, 'on')).toBe('on')
      expect(await asked(43_000)).toBe('red1')
      // The member comes back, and leaves again without a drain time.
      await put(driver, entryOf([m1], { drainMs: 0 }))
      await put(driver, entryOf(left, { drainMs: 0 }))
      await until(
        () => client.say(connection, 'over?'),
        (answer) => answer === 'CLOSED',
      )
      await until(
        () => asked(43_000),
        (answer) => answer === 'red2',
      )
      await client.close(connection)
    }),
  )

  it('is cut at the same deadline by the next agent', async () => {
    const file = join(directory, 'drains.json')
    const drain = { drainMs: 1_500 }
    const { config, helper } = node
    const options = { config, helper, log: silent, leftoversGraceMs: 0, drainFile: file }
    const first = new PacketPath(options)
    await first.adopt([])
    await put(first, entryOf([m1], drain))
    const { connection } = await client.open(VIP, 80)
    await put(first, entryOf([m2], drain))
    expect(await client.say(connection, 'on')).toBe('on')
    await first.close()
    const second = new PacketPath(options)
    await second.adopt([entryOf([m2], drain)])
    await until(
      () => client.say(connection, 'over?'),
      (answer) => answer === 'CLOSED',
    )
    expect(second.counters.transactions).toBe(0)
    await second.apply({ put: [], remove: ['lb/a'] }, signal)
    await second.close()
  })
})

describe('a member on its way up', () => {
  it('takes new flows by its share, and none that is there', () =>
    withDriver(async (driver) => {
      await put(driver, entryOf([m1, m2], { down: ['m2'] }))
      const ports = Array.from({ length: 40 }, (_, n) => 44_000 + n)
      for (const port of ports) expect(await asked(port)).toBe('red1')
      let last = 0
      for (const share of [10, 55, 100]) {
        await put(driver, entryOf([m1, m2], share === 100 ? {} : { shares: [['m2', share]] }))
        for (const port of ports) expect(await asked(port)).toBe('red1')
        let taken = 0
        for (let n = 0; n < 240; n++) if ((await client.connect(VIP, 80)).startsWith('red2')) taken++
        expect(taken).toBeGreaterThan(last)
        last = taken
      }
      // Binomial with p = 1/2: outside of these bounds once in 10^6 runs.
      expect(last).toBeGreaterThan(80)
    }))
})
