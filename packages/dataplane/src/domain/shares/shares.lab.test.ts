import { setTimeout as pause } from 'node:timers/promises'
import type { ShareName } from '@spout/model/node-report'
import { execOk } from '@spout/sys'
import { BURST_PROGRAM, recordFault, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Announcement } from '../../contracts/announcer.ts'
import { Arrangement } from '../../testing/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../../testing/entries.ts'
import { LabNode, silent } from '../../testing/lab-node.ts'
import { NetworkShareUse } from './network-share-use.ts'
import type { NetworkShares } from './network-shares.ts'
import { ShareWatch } from './share-watch.ts'
import { SHARES_TABLE } from './shares-table.ts'

const signal = new AbortController().signal
/** A quarter of a million packets, each sent by itself. */
const LONGEST_FILLING_MS = 300_000

/** The tenant that wants more than its share, and its neighbour on the same node. */
const GREEDY = { domain: domainEntry(1), vip: '10.9.0.100', member: 'red1' } as const
const NEIGHBOUR = {
  domain: domainEntry(2, { segment: { physicalNetwork: 'blue', vlan: null } }),
  vip: '10.9.0.200',
  member: 'blue1',
} as const

const load = ({ domain, vip: address, member: name }: typeof GREEDY | typeof NEIGHBOUR) =>
  wanted(name, domain, {
    vips: [vip(address)],
    services: [
      service(`${name}-tcp`, 80, domain.number),
      service(`${name}-udp`, 53, domain.number, { protocol: 'udp' }),
    ],
    pools: [pool(domain.number, [member(name, '10.0.0.11')])],
  })

const SHARES: NetworkShares = { packetsPerSecond: 10_000, bytesPerSecond: 2_000_000, newFlowsPerSecond: 2_000 }
/** Shares that are never used up, so that each test limits only one. */
const PLENTY: NetworkShares = { packetsPerSecond: 1e9, bytesPerSecond: 16e9, newFlowsPerSecond: 1e8 }

/** A node with both tenants, and readers of their shares. */
async function nodeWith(lab: Arrangement, shares: NetworkShares) {
  const node = await LabNode.start(lab, 'node1', undefined, 0, { shares })
  await node.domains.adopt([])
  const made = await node.domains.apply({ put: [GREEDY.domain, NEIGHBOUR.domain], remove: [] }, signal)
  expect(made).toMatchObject([{ message: null }, { message: null }])
  await node.driver.apply({ put: [load(GREEDY), load(NEIGHBOUR)], remove: [] }, signal)
  const announced = [GREEDY, NEIGHBOUR].map(({ vip: address, domain }): Announcement => {
    return { address, scope: 'fabric', domain: domain.number, by: { via: 'l2' } }
  })
  await node.announcer.apply(announced, signal)
  const use = new NetworkShareUse({ helper: node.helper, shares })
  const sources = [{ read: (domain: number) => use.read(node.domains.netns(domain)) }]
  const domains = () => node.domains.numbers()
  // The clock stands still, so reading seems to take no time and no look is too early.
  const watch = new ShareWatch({ domains, sources, log: silent, now: () => 0 })
  await watch.look()
  const refusedTo = async (domain: number): Promise<Readonly<Partial<Record<ShareName, number | null>>>> => {
    const all = await use.read(node.domains.netns(domain))
    return Object.fromEntries(all.map(({ share, refused }) => [share, refused]))
  }
  return { node, watch, use, refusedTo }
}

describe('what a tenant network may take of a node', () => {
  let lab: Arrangement
  let on: Awaited<ReturnType<typeof nodeWith>>
  beforeAll(async () => {
    lab = await Arrangement.create()
  })
  afterAll(async () => {
    await lab?.[Symbol.asyncDispose]()
  })

  /** Does `attack` and asks the neighbour for as long as it lasts, at half the rate that its own share allows. */
  async function beside(
    attack: () => Promise<unknown>,
  ): Promise<{ readonly asked: number; readonly answered: number }> {
    let isOver = false
    const attacking = attack().finally(() => {
      isOver = true
    })
    let [asked, answered] = [0, 0]
    const began = performance.now()
    do {
      asked++
      const line = await lab.peer('client').connect(NEIGHBOUR.vip, 80)
      if (line.startsWith(NEIGHBOUR.member)) answered++
      const aheadMs = (2000 * asked) / SHARES.newFlowsPerSecond - (performance.now() - began)
      if (aheadMs > 0) await pause(aheadMs)
    } while (!isOver)
    await attacking
    return { asked, answered }
  }

  const burst = (...words: readonly (string | number)[]) =>
    lab.run('client', `python3 ${BURST_PROGRAM} ${words.join(' ')}`)

  async function withShares(shares: NetworkShares, test: () => Promise<void>): Promise<void> {
    on = await nodeWith(lab, shares)
    try {
      await test()
    } finally {
      await on.node.domains.apply({ put: [], remove: [GREEDY.domain.key, NEIGHBOUR.domain.key] }, signal)
      await on.node.die()
    }
  }

  interface Attack {
    readonly share: 'packets' | 'bytes' | 'new-flows'
    readonly what: string
    readonly sent: number
    readonly send: () => Promise<unknown>
  }

  const ATTACKS: readonly Attack[] = [
    {
      share: 'packets',
      what: 'packets of one flow',
      sent: 60_000,
      send: () => burst('datagrams', GREEDY.vip, 53, 60_000, 1),
    },
    {
      share: 'bytes',
      what: 'packets of 1,400 bytes',
      sent: 10_000,
      send: () => burst('datagrams', GREEDY.vip, 53, 10_000, 1_400),
    },
    { share: 'new-flows', what: 'UDP flows', sent: 20_000, send: () => burst('flows', GREEDY.vip, 53, 20_000) },
    { share: 'new-flows', what: 'TCP connections', sent: 20_000, send: () => burst('syns', GREEDY.vip, 80, 20_000) },
  ]

  it.each(ATTACKS)(
    '$share: $what are dropped beyond it, and the neighbour misses nothing',
    ({ share, what, sent, send }) => {
      const field = (
        { packets: 'packetsPerSecond', bytes: 'bytesPerSecond', 'new-flows': 'newFlowsPerSecond' } as const
      )[share]
      return withShares({ ...PLENTY, [field]: SHARES[field] }, async () => {
        const startMs = performance.now()
        const { asked, answered } = await beside(send)
        const seconds = (performance.now() - startMs) / 1000
        const { [share]: refused = 0, ...others } = await on.refusedTo(GREEDY.domain.number)
        // At most what the share allows in this time, with a burst.
        const size = share === 'bytes' ? 1_428 : 1
        const most = (SHARES[field] * (seconds + 1.2)) / size
        expect(sent - refused!).toBeLessThan(most)
        expect(Object.values(others).filter((count) => count !== null && count > 0)).toEqual([])
        expect([answered, await on.refusedTo(NEIGHBOUR.domain.number)]).toMatchObject([asked, { [share]: 0 }])
        expect((await on.watch.look()).map((one) => [one.domain, one.share, one.limit])).toEqual([
          [GREEDY.domain.number, share, SHARES[field]],
        ])
        recordFault({
          fault: `a tenant takes more than its share of a node: ${sent.toLocaleString('en-US')} ${what} at once`,
          outcome: `${refused!.toLocaleString('en-US')} are dropped where they arrive; the neighbour is answered`,
          figure: `${asked - answered} of ${asked} of its connections failed`,
        })
      })
    },
  )

  it('packets of members are counted as those of clients are', () =>
    withShares({ ...PLENTY, packetsPerSecond: SHARES.packetsPerSecond }, async () => {
      // Nobody asked for them, so they go nowhere; they cost the node as much.
      const storm = () => lab.run(GREEDY.member, `python3 ${BURST_PROGRAM} datagrams 10.9.0.9 9 60000 1`)
      const { asked, answered } = await beside(storm)
      expect((await on.refusedTo(GREEDY.domain.number)).packets).toBeGreaterThan(1_000)
      expect([answered, (await on.refusedTo(NEIGHBOUR.domain.number)).packets]).toEqual([asked, 0])
    }))

  it(
    'flows: a connection table that is full is full for its own network alone',
    { timeout: 2 * LONGEST_FILLING_MS },
    () =>
      withShares(PLENTY, async () => {
        const netns = on.node.domains.netns(GREEDY.domain.number)
        const { most } = await on.node.helper.conntrackCount({ netns })
        // On a busy machine the first flows would end before the last ones are sent.
        const endless = ['sysctl', '-qw', 'net.netfilter.nf_conntrack_udp_timeout=3600']
        await execOk(['nsenter', `--net=${netns}`, '--', ...endless])
        const noticed = async () => (await on.watch.look()).map((one) => [one.domain, one.share])
        // The kernel ends half-open flows of a table that is nearly full by itself, at any time.
        const fill = () =>
          waitFor(
            async () => {
              await burst('flows', GREEDY.vip, 53, Math.ceil(most * 1.02))
              return (await noticed()).length > 0
            },
            { what: 'the table to be full', timeoutMs: LONGEST_FILLING_MS },
          )
        const { asked, answered } = await beside(fill)
        const [, , , greedy] = await on.use.read(netns)
        expect(greedy).toMatchObject({ share: 'flows', limit: most })
        expect(greedy!.used).toBeLessThanOrEqual(most)
        const more = await beside(async () => {})
        expect([answered, more.answered]).toEqual([asked, more.asked])
        expect(await noticed()).toEqual([[GREEDY.domain.number, 'flows']])
        // Half-open flows are evicted, so the greedy tenant's own clients are served, too.
        expect(await lab.peer('client').connect(GREEDY.vip, 80)).toContain(GREEDY.member)
        recordFault({
          fault: `a tenant takes more than its share of a node: ${most.toLocaleString('en-US')} tracked flows`,
          outcome: 'its own table is full; the neighbour is answered',
          figure: `${asked - answered} of ${asked} of its connections failed`,
        })
      }),
  )

  it('shares that somebody took away are noticed, and put back', () =>
    withShares(PLENTY, async () => {
      const { domains, helper } = on.node
      expect(await domains.observe()).toEqual([])
      const netns = domains.netns(GREEDY.domain.number)
      await helper.nftText({ netns, text: `delete table netdev ${SHARES_TABLE}\n` })
      expect(await domains.observe()).toEqual([GREEDY.domain.key])
      await domains.apply({ put: [GREEDY.domain], remove: [] }, signal)
      expect(await domains.observe()).toEqual([])
      expect(await helper.nftGeneration({ netns, family: 'netdev', table: SHARES_TABLE })).toMatchObject({
        exists: true,
      })
    }))

  it('a restarted agent changes nothing, and counts on', () =>
    withShares({ ...PLENTY, newFlowsPerSecond: SHARES.newFlowsPerSecond }, async () => {
      await burst('syns', GREEDY.vip, 80, 5_000)
      const before = await on.refusedTo(GREEDY.domain.number)
      await on.node.die()
      const again = await LabNode.start(lab, 'node1', undefined, 30_000, { shares: on.node.config.shares! })
      await again.domains.adopt([GREEDY.domain, NEIGHBOUR.domain])
      expect(again.domains.counters.changes).toBe(0)
      const use = new NetworkShareUse({ helper: again.helper, shares: on.node.config.shares! })
      const refused = (await use.read(again.domains.netns(GREEDY.domain.number))).find(
        ({ share }) => share === 'new-flows',
      )
      expect(refused?.refused).toBe(before['new-flows'])
      on = { ...on, node: again }
    }))
})
