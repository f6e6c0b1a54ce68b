import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Announcement } from '../../contracts/announcer.ts'
import type { WantedEntry } from '../../contracts/driver.ts'
import { Arrangement } from '../../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../../testing/entries.ts'
import { LabNode } from '../../testing/lab-node.ts'
import { type Peer, SILENCE_MS } from '../../testing/peer-client.ts'

const signal = new AbortController().signal
/** Counters that take long to read are read less often. */
const PATIENT = { timeout: 10_000 }

const red = domainEntry(1)
const blue = domainEntry(2, { segment: { physicalNetwork: 'blue', vlan: null } })
const m1 = member('m1', '10.0.0.11')
const m2 = member('m2', '10.0.0.12')
const both = [m1, m2, member('m3', 'fd01::11'), member('m4', 'fd01::12')]

let lab: Arrangement
let node: LabNode
let client: Peer

beforeAll(async () => {
  lab = await Arrangement.create()
  node = await LabNode.start(lab, 'node1')
  client = lab.peer('client')
  await node.domains.adopt([])
  await node.domains.apply({ put: [red, blue], remove: [] }, signal)
})

afterAll(async () => {
  await node?.domains.apply({ put: [], remove: [red.key, blue.key] }, signal)
  await node?.die()
  await lab?.[Symbol.asyncDispose]()
})

/** Puts entries and announces their VIPs; expects all to be programmed. */
async function put(on: LabNode, ...entries: readonly WantedEntry[]): Promise<void> {
  const applied = await on.driver.apply({ put: entries, remove: [] }, signal)
  expect(applied.map(({ key, state, message }) => ({ key, state, message }))).toEqual(
    entries.map(({ key }) => ({ key, state: 'programmed', message: null })),
  )
  const announcements = entries.flatMap(({ entry }) =>
    entry.vips.map(({ address, scope }): Announcement => ({ address, scope, domain: entry.domain, by: { via: 'l2' } })),
  )
  expect((await on.announcer.apply(announcements, signal)).filter(({ error }) => error !== null)).toEqual([])
}

async function remove(on: LabNode, ...entries: readonly WantedEntry[]): Promise<void> {
  await on.announcer.apply([], signal)
  const applied = await on.driver.apply({ put: [], remove: entries.map(({ key }) => key) }, signal)
  expect(applied.filter(({ state }) => state === 'failed')).toEqual([])
}

/** How often each member answered. */
async function count(times: number, ask: (turn: number) => Promise<string>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (let turn = 0; turn < times; turn++) {
    const [name = ''] = (await ask(turn)).split(' ')
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

describe('balancing', () => {
  it('serves TCP and UDP over IPv4 and IPv6, members see the client', async () => {
    const entry = wanted('a', red, {
      vips: [vip('10.9.0.100'), vip('fd09::100')],
      services: [service('l1', 80, 5), service('l2', 53, 5, { protocol: 'udp' })],
      pools: [pool(5, both)],
    })
    await put(node, entry)
    expect(await client.connect('10.9.0.100', 80)).toMatch(/^red[12] 10\.9\.0\.9$/)
    expect(await client.connect('fd09::100', 80)).toMatch(/^red[12] fd09::9$/)
    expect(await client.datagram('10.9.0.100', 53)).toMatch(/^red[12] 10\.9\.0\.9$/)
    expect(await client.datagram('fd09::100', 53)).toMatch(/^red[12] fd09::9$/)
    await remove(node, entry)
    expect(await client.connect('10.9.0.100', 80)).not.toMatch(/^red/)
  })

  it('refuses at once what nothing listens on, and what has no member', async () => {
    const entry = wanted(
      'a',
      red,
      {
        vips: [vip('10.9.0.100'), vip('fd09::100')],
        services: [
          service('l1', 80, null),
          service('l2', 81, 5),
          service('l3', 53, 5, { protocol: 'udp' }),
          service('l4', 82, null, { protocol: 'http' }),
        ],
        pools: [pool(5, both)],
      },
      both.map(({ id }) => id),
    )
    await put(node, entry)
    for (const address of ['10.9.0.100', 'fd09::100']) {
      for (const port of [80, 81, 82, 83]) expect(await client.connect(address, port)).toBe('ECONNREFUSED')
      for (const port of [53, 54]) expect(await client.datagram(address, port)).toBe('ECONNREFUSED')
    }
    await remove(node, entry)
  })

  it('follows weights', async () => {
    const members = [m1, member('m2', '10.0.0.12', { weight: 3 })]
    const entry = wanted('a', red, {
      vips: [vip('10.9.0.100')],
      services: [service('l1', 80, 5)],
      pools: [pool(5, members)],
    })
    await put(node, entry)
    const counts = await count(200, () => client.connect('10.9.0.100', 80))
    expect((counts['red1'] ?? 0) + (counts['red2'] ?? 0)).toBe(200)
    // Binomial with p = 1/4: outside of these bounds once in 10^7 runs.
    expect(counts['red1']).toBeGreaterThan(18)
    expect(counts['red1']).toBeLessThan(86)
    await remove(node, entry)
  })

  it.each([
    ['hashed by connection', {}],
    ['with clients that are remembered', { sourceAffinity: true, keepSeconds: 60 }],
  ])('refuses the part of new connections that a pool says: %s', async (_, kept) => {
    const entryOf = (refusedPercent?: number) =>
      wanted('a', red, {
        vips: [vip('10.9.0.100'), vip('fd09::100')],
        services: [service('l1', 80, 5), service('l2', 53, 5, { protocol: 'udp' }), service('l3', 81, 6)],
        pools: [
          pool(5, both, { ...(refusedPercent !== undefined && { refusedPercent }) }),
          pool(6, [m1], { ...kept, ...(refusedPercent !== undefined && { refusedPercent }) }),
        ],
      })
    // The kernel sends one refusal a second to each client, as for closed ports; the client tries again until then.
    const atOnce = 'sysctl -q -w net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0'
    await lab.run('node1', `nsenter --net=${node.domains.netns(1)} ${atOnce}`)
    await put(node, entryOf(50))
    for (const address of ['10.9.0.100', 'fd09::100'])
      for (const ask of [() => client.connect(address, 80), () => client.datagram(address, 53)]) {
        const { ECONNREFUSED: refused = 0 } = await count(100, ask)
        // Binomial with p = 1/2: outside of these bounds once in 10^6 runs.
        expect([refused > 25, refused < 75], `${address}: ${refused}`).toEqual([true, true])
      }
    const one = await count(40, () => client.connect('10.9.0.100', 81))
    // One client has one slot where its address alone is hashed.
    expect(Object.keys(one)).toHaveLength(Object.keys(kept).length === 0 ? 2 : 1)
    await put(node, entryOf(100))
    for (const port of [80, 81]) expect(await client.connect('10.9.0.100', port)).toBe('ECONNREFUSED')
    await put(node, entryOf())
    expect((await count(40, () => client.connect('10.9.0.100', 80)))['ECONNREFUSED']).toBeUndefined()
    await remove(node, entryOf())
  })

  it.each([64, 256, 1024, 4096] as const)('keeps a client on its member in a pool of %d slots', async (size) => {
    const table = Buffer.alloc(2 * size)
    for (let slot = 0; slot < size; slot++) table.writeUInt16LE(slot % 2, 2 * slot)
    const slots = { size, table: table.toString('base64') }
    const entry = wanted('a', red, {
      vips: [vip('10.9.0.100')],
      services: [service('l1', 80, 5), service('l2', 81, 6)],
      pools: [pool(5, [m1, m2], { slots, sourceAffinity: true }), pool(6, [m1, m2], { slots })],
    })
    await put(node, entry)
    expect(Object.keys(await count(20, () => client.connect('10.9.0.100', 80)))).toHaveLength(1)
    expect(Object.keys(await count(40, () => client.connect('10.9.0.100', 81))).sort()).toEqual(['red1', 'red2'])
    await remove(node, entry)
  })

  it('keeps domains apart whose members have the same addresses', async () => {
    const first = wanted('a', red, {
      vips: [vip('10.9.0.100')],
      services: [service('l1', 80, 5)],
      pools: [pool(5, [m1])],
    })
    const second = wanted('b', blue, {
      vips: [vip('10.9.0.101')],
      services: [service('l2', 80, 5)],
      pools: [pool(5, [m1])],
    })
    await put(node, first, second)
    expect(await client.connect('10.9.0.100', 80)).toBe('red1 10.9.0.9')
    expect(await client.connect('10.9.0.101', 80)).toBe('blue1 10.9.0.9')
    await remove(node, first, second)
  })

  it('shows members its own address with return path snat', async () => {
    const snat = domainEntry(1, { returnPath: 'snat', gateway: null })
    await node.domains.apply({ put: [snat], remove: [] }, signal)
    const entry = wanted('a', snat, {
      vips: [vip('10.9.0.100'), vip('fd09::100')],
      services: [service('l1', 80, 5), service('l2', 53, 5, { protocol: 'udp' })],
      pools: [pool(5, both)],
    })
    await put(node, entry)
    expect(await client.connect('10.9.0.100', 80)).toMatch(/^red[12] 10\.0\.0\.250$/)
    expect(await client.connect('fd09::100', 80)).toMatch(/^red[12] fd01::250$/)
    expect(await client.datagram('10.9.0.100', 53)).toMatch(/^red[12] 10\.0\.0\.250$/)
    await remove(node, entry)
    await node.domains.apply({ put: [red], remove: [] }, signal)
  })

  it("serves a VIP of the tenant network to hosts of the members' own subnet", async () => {
    const entry = wanted('a', red, {
      vips: [vip('10.9.0.100'), vip('10.0.0.100', 'tenant'), vip('fd01::100', 'tenant')],
      services: [service('l1', 80, 5), service('l2', 53, 5, { protocol: 'udp' })],
      pools: [pool(5, both)],
    })
    await put(node, entry)
    const host = lab.peer('red9')
    expect(await host.connect('10.0.0.100', 80)).toMatch(/^red[12] 10\.0\.0\.250$/)
    expect(await host.connect('fd01::100', 80)).toMatch(/^red[12] fd01::250$/)
    expect(await host.datagram('10.0.0.100', 53)).toMatch(/^red[12] 10\.0\.0\.250$/)
    expect(await host.connect('10.9.0.100', 80)).toMatch(/^red[12] 10\.0\.0\.250$/)
    expect(await host.connect('10.0.0.100', 81)).toBe('ECONNREFUSED')
    await remove(node, entry)
  })
})

describe('admission', () => {
  it('admits the listed sources alone', async () => {
    const entry = wanted('a', red, {
      vips: [vip('10.9.0.100'), vip('fd09::100')],
      services: [
        service('l1', 80, 5, { allowedCidrs: ['10.9.0.10/32', '192.0.2.0/24', 'fd09::/64'] }),
        service('l2', 81, 5),
      ],
      pools: [pool(5, both)],
    })
    await put(node, entry)
    const from = (source: string) => ({ source })
    expect(await client.connect('10.9.0.100', 80, from('10.9.0.10'))).toMatch(/^red/)
    expect(await client.connect('10.9.0.100', 80, { ...from('10.9.0.9'), withinMs: SILENCE_MS })).toBe('ETIMEDOUT')
    expect(await client.connect('10.9.0.100', 81, from('10.9.0.9'))).toMatch(/^red/)
    expect(await client.connect('fd09::100', 80)).toMatch(/^red/)
    await remove(node, entry)
  })

  it('limits connections over all VIPs, refuses those beyond, and admits again when one ends', async () => {
    const entry = wanted('a', red, {
      vips: [vip('10.9.0.100'), vip('fd09::100')],
      services: [service('l1', 80, 5, { connectionLimit: 2 })],
      pools: [pool(5, both)],
    })
    await put(node, entry)
    const first = await client.open('10.9.0.100', 80)
    const second = await client.open('fd09::100', 80)
    expect([first.line, second.line]).toEqual([expect.stringMatching(/^red/), expect.stringMatching(/^red/)])
    expect(await client.connect('10.9.0.100', 80)).toBe('ECONNREFUSED')
    expect(await client.connect('fd09::100', 80)).toBe('ECONNREFUSED')
    await client.close(first.connection)
    await expect.poll(() => client.connect('10.9.0.100', 80), { timeout: 10_000 }).toMatch(/^red/)
    await client.close(second.connection)
    await remove(node, entry)
  })

  it('takes a service with a limit and sources to its pool, however that hashes and after a rest', async () => {
    const table = Buffer.alloc(2 * 256)
    const members = [member('down', '10.0.0.99'), m2]
    for (let slot = 0; slot < 256; slot++) table.writeUInt16LE(1, 2 * slot)
    const admitted = { connectionLimit: 1, allowedCidrs: ['10.9.0.9/32', 'fd09::/64'] }
    const entry = wanted('a', red, {
      vips: [vip('10.9.0.100')],
      services: [service('rested', 80, 6, admitted), service('other', 81, 5, admitted)],
      pools: [
        pool(5, [m1]),
        pool(6, members, { slots: { size: 256, table: table.toString('base64') }, sourceAffinity: true }),
      ],
    })
    await put(node, entry)
    expect(await client.connect('10.9.0.100', 80)).toBe('red2 10.9.0.9')
    expect(await client.connect('10.9.0.100', 81)).toBe('red1 10.9.0.9')
    // The kernel collects what is idle in sets of some kinds, once a second: this takes longer.
    expect(await client.connect('10.9.0.100', 80, { source: '10.9.0.10', withinMs: SILENCE_MS })).toBe('ETIMEDOUT')
    const { connection } = await client.open('10.9.0.100', 80)
    expect(await client.connect('10.9.0.100', 80)).toBe('ECONNREFUSED')
    await client.close(connection)
    await expect
      .poll(() => node.driver.stats(), PATIENT)
      .toMatchObject([{ totalConnections: 2 }, { totalConnections: 1 }])
    await remove(node, entry)
  })
})

describe('statistics', () => {
  it('count connections and bytes per listener, and never fall', async () => {
    const of = (address: string) =>
      wanted('s', red, {
        vips: [vip(address), vip('fd09::150')],
        services: [service('l1', 80, 5), service('l2', 53, 5, { protocol: 'udp' }), service('l3', 81, null)],
        pools: [pool(5, both)],
      })
    await put(node, of('10.9.0.150'))
    for (let turn = 0; turn < 3; turn++) await client.connect('10.9.0.150', 80)
    await client.connect('fd09::150', 80)
    await client.datagram('10.9.0.150', 53)
    const stats = async (listener: string) =>
      (await node.driver.stats()).find(({ listenerId }) => listenerId === listener)
    await expect.poll(() => stats('l1'), PATIENT).toMatchObject({ loadBalancerId: 's', totalConnections: 4 })
    expect(await stats('l2')).toMatchObject({ totalConnections: 1, bytesIn: 33 })
    expect((await stats('l2'))?.bytesOut).toBeGreaterThan(28)
    expect(await stats('l3')).toMatchObject({ totalConnections: 0, bytesIn: 0, bytesOut: 0 })
    expect(await client.connect('10.9.0.150', 81)).toBe('ECONNREFUSED')
    await expect.poll(() => stats('l3'), PATIENT).toMatchObject({ totalConnections: 1, bytesIn: 0, bytesOut: 0 })
    await put(node, of('10.9.0.151'))
    await client.connect('10.9.0.151', 80)
    await expect
      .poll(() => stats('l1'), PATIENT)
      .toMatchObject({ totalConnections: expect.toSatisfy((total) => total >= 5) })
    await remove(node, of('10.9.0.151'))
  })
})

describe('isolation', () => {
  it('routes nothing of a tenant but replies', async () => {
    const entry = wanted('a', red, {
      vips: [vip('10.9.0.100')],
      services: [service('l1', 80, 5)],
      pools: [pool(5, [m1])],
    })
    await put(node, entry)
    const host = lab.peer('red1')
    await client.serve(9000)
    const targets = ['10.9.0.9', '10.9.0.1', 'fd09::9', 'fd09::1', '240.0.0.2', '240.0.0.4']
    const reached = await Promise.all([
      ...targets.map((target) => host.connect(target, 9000, { withinMs: SILENCE_MS })),
      host.datagram('10.9.0.9', 9000, { withinMs: SILENCE_MS }),
    ])
    expect(reached.filter((answer) => answer.startsWith('client'))).toEqual([])
    // From the member's service port, which is in the reverse map. Still no connection may begin there.
    expect(await lab.peer('red1').connect('10.9.0.9', 9000, { sourcePort: 8081 })).not.toMatch(/^client/)
    expect(await lab.run('red1', 'ping -c 1 -W 1 10.9.0.9').catch(() => 'lost')).toBe('lost')
    await remove(node, entry)
  })
})

describe('changes', () => {
  const entryOf = (members: readonly (typeof m1)[], down: readonly string[] = []) =>
    wanted(
      'a',
      red,
      {
        vips: [vip('10.9.0.100')],
        services: [service('l1', 80, 5), service('l2', 53, 6, { protocol: 'udp' })],
        pools: [pool(5, members), pool(6, members)],
      },
      down,
    )

  it('keep the flows of members that went', async () => {
    await put(node, entryOf([m1]))
    const { connection, line } = await client.open('10.9.0.100', 80)
    expect(line).toBe('red1 10.9.0.9')
    await put(node, entryOf([m2]))
    expect(await client.say(connection, 'still there?')).toBe('still there?')
    expect(await client.connect('10.9.0.100', 80)).toBe('red2 10.9.0.9')
    await client.close(connection)
    await remove(node, entryOf([m2]))
  })

  it('move the UDP flows of a member that is down', async () => {
    await put(node, entryOf([m1, m2]))
    const from = { sourcePort: 40_053 }
    const [before = ''] = (await client.datagram('10.9.0.100', 53, from)).split(' ')
    const [again = ''] = (await client.datagram('10.9.0.100', 53, from)).split(' ')
    expect(again).toBe(before)
    const down = before === 'red1' ? 'm1' : 'm2'
    await put(node, entryOf([m1, m2], [down]))
    expect((await client.datagram('10.9.0.100', 53, from)).split(' ')[0]).toBe(before === 'red1' ? 'red2' : 'red1')
    await remove(node, entryOf([m1, m2]))
  })

  it('do nothing to the kernel when nothing differs', async () => {
    await put(node, entryOf([m1, m2]))
    const { transactions } = node.driver.counters
    await put(node, entryOf([m1, m2]))
    expect(node.driver.counters.transactions).toBe(transactions)
    await remove(node, entryOf([m1, m2]))
  })

  it('stop at the entry the kernel refuses, which keeps what it had', async () => {
    const of = (id: string, address: string, port: number) =>
      wanted(id, red, {
        vips: [vip(address)],
        services: [service(`l-${id}`, port, id.charCodeAt(0))],
        pools: [pool(id.charCodeAt(0), [m1])],
      })
    const good = ['a', 'b', 'c', 'e', 'f'].map((id, index) => of(id, `10.9.0.${110 + index}`, 80))
    const before = of('d', '10.9.0.120', 80)
    await put(node, ...good, before)
    const moved = good.map(({ entry }) => of(entry.id, entry.vips[0]!.address, 81))
    // It has the address and port of entry b. The kernel refuses a second value for a key.
    const clash = of('d', moved[1]!.entry.vips[0]!.address, 81)
    const applied = await node.driver.apply({ put: [...moved, clash], remove: [] }, signal)
    expect(applied.filter(({ state }) => state === 'failed').map(({ key }) => key)).toEqual(['lb/d'])
    expect(applied.find(({ key }) => key === 'lb/d')).toMatchObject({ reason: 'KernelRefused' })
    for (const { entry } of moved) expect(await client.connect(entry.vips[0]!.address, 81)).toBe('red1 10.9.0.9')
    expect(await client.connect('10.9.0.120', 80)).toBe('red1 10.9.0.9')
    await remove(node, ...good, before)
  })
})

describe('restarts', () => {
  const entries = [1, 2, 3].map((id) =>
    wanted(`r${id}`, id === 3 ? blue : red, {
      vips: [vip(`10.9.0.${130 + id}`), vip(`fd09::${130 + id}`)],
      services: [service(`l${id}`, 80, 10 + id, { connectionLimit: 50, allowedCidrs: ['10.9.0.0/24'] })],
      pools: [pool(10 + id, [m1])],
    }),
  )
  const announced = entries.map(
    ({ entry }): Announcement => ({
      address: entry.vips[0]!.address,
      scope: 'fabric',
      domain: entry.domain,
      by: { via: 'l2' },
    }),
  )

  it('of the agent change nothing and break no connection', async () => {
    await put(node, ...entries)
    const { connection } = await client.open('10.9.0.131', 80)
    const next = await LabNode.start(lab, 'node1')
    await next.domains.adopt([red, blue])
    await next.driver.adopt(entries)
    await next.announcer.adopt(announced)
    await next.domains.apply({ put: [red, blue], remove: [] }, signal)
    await next.driver.apply({ put: entries, remove: [] }, signal)
    await next.announcer.apply(announced, signal)
    expect(next.domains.counters.changes).toBe(0)
    expect(next.driver.counters).toEqual({ transactions: 0, reloads: 0 })
    expect(next.announcer.counters.changes).toBe(0)
    expect(await next.helper.stats()).toMatchObject({ transactions: 0 })
    expect(await client.say(connection, 'hello')).toBe('hello')
    await client.close(connection)
    await next.die()
    await remove(node, ...entries)
  })

  it('of an agent that remembers nothing end in the same state, without what it does not want', async () => {
    await put(node, ...entries)
    const next = await LabNode.start(lab, 'node1')
    await next.domains.adopt([])
    await next.driver.adopt([])
    await next.domains.apply({ put: [red, blue], remove: [] }, signal)
    await put(next, ...entries.slice(0, 1))
    expect(await client.connect('10.9.0.131', 80)).toBe('red1 10.9.0.9')
    expect(await client.connect('10.9.0.132', 80)).not.toMatch(/^red/)
    const listing = await lab.run('node1', `ip route show table ${7100}`)
    expect(listing).toMatch(/10\.9\.0\.131/)
    expect(listing).not.toMatch(/10\.9\.0\.13[23]/)
    await remove(next, ...entries.slice(0, 1))
    await next.die()
    await node.driver.adopt([])
  })

  it('of an agent that remembers nothing keep traffic until every portion was told', async () => {
    await put(node, ...entries)
    const { connection } = await client.open('10.9.0.132', 80)
    const next = await LabNode.start(lab, 'node1', undefined, 60_000)
    await next.domains.adopt([])
    await next.driver.adopt([])
    await next.domains.apply({ put: [red], remove: [] }, signal)
    await next.driver.apply({ put: entries.slice(0, 1), remove: [] }, signal)
    expect(await client.say(connection, 'hello')).toBe('hello')
    expect(await client.connect('10.9.0.133', 80)).toBe('blue1 10.9.0.9')
    await next.domains.apply({ put: [blue], remove: [] }, signal)
    await next.driver.apply({ put: entries.slice(1), remove: [] }, signal)
    expect(await next.driver.observe()).toEqual([])
    for (const address of ['10.9.0.131', '10.9.0.132', '10.9.0.133'])
      expect(await client.connect(address, 80)).toMatch(/^(red1|blue1) /)
    await client.close(connection)
    await next.driver.apply({ put: [], remove: entries.map(({ key }) => key) }, signal)
    await next.die()
    await node.announcer.apply([], signal)
    await node.driver.adopt([])
    await node.driver.apply({ put: [], remove: [] }, signal)
  })

  it('of the helper during a transaction leave a known state', async () => {
    const large = Array.from({ length: 40 }, (_, id) =>
      wanted(`h${id}`, red, {
        vips: [vip(`10.9.1.${id}`)],
        services: [service(`h${id}`, 80, 100 + id)],
        pools: [pool(100 + id, [m1, m2])],
      }),
    )
    for (let round = 0; round < 5; round++) {
      const change = node.driver.apply({ put: large, remove: [] }, signal)
      process.kill(node.helper.pid ?? 0, 'SIGKILL')
      const applied = await change
      await expect.poll(() => node.helper.pid, { timeout: 20_000 }).not.toBeNull()
      if (applied.some(({ state }) => state === 'failed')) await node.driver.apply({ put: large, remove: [] }, signal)
      expect(await node.driver.observe()).toEqual([])
      const same = await node.driver.apply({ put: large, remove: [] }, signal)
      expect(same.filter(({ state }) => state === 'failed')).toEqual([])
      const slots = await lab.run('node1', `nsenter --net=${node.domains.netns(1)} nft list map inet spout member4`)
      expect(slots.match(/0x[0-9a-f]+ \. 0x[0-9a-f]+ :/g)).toHaveLength(40 * 64)
      await remove(node, ...large)
    }
  })

  it('notice a table that somebody flushed, and mend it', async () => {
    await put(node, ...entries)
    await lab.run('node1', `nsenter --net=${node.domains.netns(1)} nft delete table inet spout`)
    expect((await node.driver.observe()).toSorted()).toEqual(['lb/r1', 'lb/r2'])
    await node.driver.apply({ put: entries, remove: [] }, signal)
    expect(await node.driver.observe()).toEqual([])
    expect(await client.connect('10.9.0.131', 80)).toBe('red1 10.9.0.9')
    await remove(node, ...entries)
  })
})

describe('takeover', () => {
  const entry = wanted('t', red, {
    vips: [vip('10.9.0.140'), vip('fd09::140')],
    services: [service('l1', 80, 5)],
    pools: [pool(5, both)],
  })
  const addresses = entry.entry.vips.map(
    ({ address }): Announcement => ({ address, scope: 'fabric', domain: 1, by: { via: 'l2' } }),
  )
  const idle = {
    ...red,
    gateway: null,
    subnets: red.subnets.map((each) => ({ ...each, nodeAddress: each.nodeAddress.replace('250', '251') })),
  }

  it.each(['request', 'reply'] as const)('keeps connections whose next packet is a %s', async (first) => {
    const other = await LabNode.start(lab, 'node2')
    await other.domains.adopt([])
    await other.domains.apply({ put: [idle], remove: [] }, signal)
    await put(node, entry)
    await other.driver.apply({ put: [entry], remove: [] }, signal)
    // Fixed ports, outside the client's ephemeral range. node1 still tracks connections of earlier tests; a port that
    // another VIP's connection to the same member had would be translated there, which node2 cannot know.
    const ports = first === 'request' ? [20_001, 20_002] : [20_003, 20_004]
    const connections = await Promise.all(
      ['10.9.0.140', 'fd09::140'].flatMap((address) =>
        ports.map((sourcePort) => client.open(address, 80, { sourcePort })),
      ),
    )
    for (const { line } of connections) expect(line).toMatch(/^red/)

    for (const link of ['fab0', 'red0']) await lab.run('switch', `ip link set dev node1-${link} down`)
    const heard = connections.map(({ connection }) => (first === 'reply' ? client.hear(connection) : null))
    await other.domains.apply({ put: [{ ...idle, gateway: { via: 'l2' } }], remove: [] }, signal)
    if (first === 'reply')
      // The VIPs are not announced yet, so only replies can come first.
      for (const place of ['red1', 'red2']) await lab.peer(place).push('unasked')
    await other.announcer.apply(addresses, signal)
    if (first === 'reply') expect(await Promise.all(heard)).toEqual(connections.map(() => 'unasked'))
    for (const { connection } of connections) expect(await client.say(connection, 'hello')).toBe('hello')

    for (const { connection } of connections) await client.close(connection)
    await remove(other, entry)
    await other.domains.apply({ put: [], remove: [red.key] }, signal)
    await other.die()
    for (const link of ['fab0', 'red0']) await lab.run('switch', `ip link set dev node1-${link} up`)
    await node.domains.apply({ put: [{ ...red, gateway: null }], remove: [] }, signal)
    await node.domains.apply({ put: [red], remove: [] }, signal)
    await remove(node, entry)
  })
})
