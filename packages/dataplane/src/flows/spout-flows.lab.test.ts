import { readFileSync } from 'node:fs'
import { recordFault, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Arrangement } from '../testing/arrangement.ts'
import { FlowNode, KEY, PORT, SHARED, SHARED6, VIP, VIP6 } from '../testing/flows/flow-node.ts'

/** With sanitizers, since it finds more; flow-replication.lab.test.ts runs the build that is shipped. */
const PROGRAM = 'spout-flows-asan'

const FLOWS = 50
const ROUNDS = 30
const allAtMost = (most: number) => (seconds: readonly number[]) =>
  seconds.length === 3 && seconds.every((one) => one <= most)
const TIMEOUT_MS = 90_000

let lab: Arrangement

beforeAll(async () => {
  lab = await Arrangement.create()
}, TIMEOUT_MS)
afterAll(() => lab[Symbol.asyncDispose]())

describe('spout-flows', { timeout: TIMEOUT_MS }, () => {
  /** Both nodes. The first one owns the addresses. */
  async function pair() {
    const stack = new AsyncDisposableStack()
    const [one, two] = [
      stack.use(await FlowNode.create(lab, 1, PROGRAM)),
      stack.use(await FlowNode.create(lab, 2, PROGRAM)),
    ]
    one.configure()
    two.configure()
    await one.own()
    return { one, two, stack }
  }

  const open = (vip: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => lab.peer('client').open(vip, 80)))

  /** A flow that a member has answered. On a busy machine neighbours may not be found at once. */
  const begun = (vip: string) =>
    waitFor(
      async () => {
        const flow = await lab.peer('client').open(vip, 80)
        return flow.line.startsWith('red1 ') && flow
      },
      { what: `a flow to ${vip}` },
    )

  async function closeAll(flows: readonly { readonly connection: number }[]): Promise<void> {
    for (const { connection } of flows) await lab.peer('client').close(connection)
  }

  it('lets every flow go on at the other node when the one that carried it dies', async () => {
    const { one, two, stack } = await pair()
    await using _ = stack
    await one.start()
    await two.start()
    const flows = [...(await open(VIP, FLOWS)), ...(await open(VIP6, 2))]
    expect(new Set(flows.map(({ line }) => line))).toEqual(new Set([`red1 ${SHARED}`, `red1 ${SHARED6}`]))
    expect(await lab.peer('client').datagram(VIP, 80, { sourcePort: 5353 })).toBe(`red1 ${SHARED}`)
    expect(await lab.peer('client').datagram(VIP6, 80, { sourcePort: 5354 })).toBe(`red1 ${SHARED6}`)
    await two.knows({ local: 0, remote: FLOWS + 4 })
    const kept = await two.entries()
    expect(kept).toHaveLength(FLOWS + 4)
    expect(kept.every((line) => line.includes('mark=7') && line.includes('[ASSURED]'))).toBe(true)

    await one.die()
    await two.own()
    const echoes = await Promise.all(
      flows.map(({ connection }, index) => lab.peer('client').say(connection, `still ${index}`)),
    )
    expect(echoes).toEqual(flows.map((_, index) => `still ${index}`))
    expect(await lab.peer('client').datagram(VIP, 80, { sourcePort: 5353 })).toBe(`red1 ${SHARED}`)
    expect(await lab.peer('client').datagram(VIP6, 80, { sourcePort: 5354 })).toBe(`red1 ${SHARED6}`)
    // node2 itself balances new flows.
    expect(await lab.peer('client').connect(VIP, 80)).toBe(`red2 ${SHARED}`)
    await closeAll(flows)
  })

  it('tells a node that joins late of everything, and of every end', async () => {
    const { one, two, stack } = await pair()
    await using _ = stack
    // The kernel sends no event for the end of a flow that began before the program. A listing of all flows finds it.
    one.configure(one.lines(['refresh 1']))
    // Nobody hears of flows that end while node2 is down. They expire there, since nothing renews them.
    two.configure(two.lines(['timeouts 14 3']))
    const early = await open(VIP, 10)
    await one.start()
    const flows = await open(VIP, FLOWS)
    await one.knows({ local: FLOWS + 10, remote: 0 })
    await two.start()
    await two.knows({ local: 0, remote: FLOWS + 10 })
    await closeAll(early)
    await two.knows({ local: 0, remote: FLOWS })
    // A restarted process finds the flows that the last one put into the kernel.
    await two.stop()
    await closeAll(flows.slice(0, 5))
    await two.start()
    await two.knows({ local: 0, remote: FLOWS - 5 }, 30_000)
    await closeAll(flows)
    await two.knows({ local: 0, remote: 0 })
    expect(await two.entries()).toEqual([])
  })

  it('believes nobody without the key, and nothing twice', async () => {
    const { one, two, stack } = await pair()
    await using _ = stack
    await one.start()
    two.configure(two.lines().map((line) => line.replace(KEY, 'b6'.repeat(32))))
    await two.start()
    const flows = await open(VIP, 3)
    const refused = () => two.state()?.peers[0]?.refused ?? 0
    await expect.poll(refused, { timeout: 10_000 }).toBeGreaterThan(0)
    expect(two.counts()).toEqual({ local: 0, remote: 0 })

    two.configure()
    await two.knows({ local: 0, remote: 3 })
    const before = refused()
    await one.stop()
    await one.exec('bash', '-c', `exec 3<>/dev/udp/10.9.0.2/${PORT}; printf 'SFR1\\002\\000%0100d' 0 >&3`)
    await expect.poll(refused, { timeout: 10_000 }).toBe(before + 1)
    await lab.run('client', `bash -c exec\t3<>/dev/udp/10.9.0.2/${PORT};printf\tSFR1>&3`)
    await expect.poll(() => two.state()?.strangers, { timeout: 10_000 }).toBe(1)
    expect(two.counts()).toEqual({ local: 0, remote: 3 })
    await closeAll(flows)
  })

  it('does not take its own words for those of its peer, however often they come back', async () => {
    const { one, two, stack } = await pair()
    await using _ = stack
    await one.start()
    const flows = await open(VIP, 3)
    await one.knows({ local: 3, remote: 0 })
    const peer = () => one.state()?.peers[0] ?? { received: -1, refused: -1 }
    const tried: number[] = []
    // Once before the peers have met, and once with datagrams of peers that have.
    for (const metBefore of [false, true]) {
      if (metBefore) {
        await two.start()
        await two.knows({ local: 0, remote: 3 })
        await two.stop()
      }
      const before = peer().refused
      await using _mirror = await two.mirror()
      // By then the peer's own last datagrams are counted.
      await expect.poll(() => peer().refused, { timeout: 15_000 }).toBeGreaterThan(before + 1)
      const { received, refused } = peer()
      await expect.poll(() => peer().refused, { timeout: 15_000 }).toBeGreaterThanOrEqual(refused + 8)
      expect(peer().received).toBe(received)
      tried.push(peer().refused - refused)
    }
    // After the mirror the real peer is met as usual.
    await two.start()
    await two.knows({ local: 0, remote: 3 })
    await closeAll(flows)
    recordFault({
      fault: 'spout-flows: its datagrams are sent back to it',
      outcome: 'all are refused; the peer is met as ever after it',
      figure: `0 of ${tried.join(' and ')} believed`,
    })
  })

  it('forgets what nobody renews, and keeps idle flows that are left to it', async () => {
    const { one, two, stack } = await pair()
    await using _ = stack
    const short = ['timeouts 14 3', 'refresh 1']
    one.configure(one.lines(short))
    two.configure(two.lines(short))
    await one.start()
    await two.start()
    const flows = await open(VIP, 3)
    await lab.peer('client').datagram(VIP, 80, { sourcePort: 5355 })
    await two.knows({ local: 0, remote: 4 })
    await one.die()
    await two.own()
    // Nobody renews the UDP flow. The new owner now carries the idle connections.
    await two.knows({ local: 3, remote: 0 }, 30_000)
    const [entry] = await two.entries()
    expect(Number(/^tcp\s+6 (\d+) ESTABLISHED/.exec(entry ?? '')?.[1])).toBeGreaterThan(1000)
    await two.ip(`address delete ${SHARED}/32 dev red0`, `address delete ${SHARED6}/128 dev red0`)
    await closeAll(flows)
  })

  // A connection may close after it was listed as established, and before the program gives it days to live.
  it('keeps what closed for no longer than the kernel does', async () => {
    const { one, stack } = await pair()
    await using _ = stack
    one.configure(one.lines(['refresh 1']))
    await one.start()
    const flows = await open(VIP, 1)
    await one.knows({ local: 1, remote: 0 })
    const update = ['conntrack', '-U', '-p', 'tcp', '-d', VIP, '--dport', '80']
    await one.exec(...update, '--state', 'TIME_WAIT', '--timeout', '400000')
    const secondsLeft = async () => {
      const [entry] = await one.entries()
      return Number(/^tcp\s+6 (\d+) TIME_WAIT/.exec(entry ?? '')?.[1])
    }
    await expect.poll(secondsLeft, { timeout: 10_000 }).toBeLessThanOrEqual(120)
    await closeAll(flows)
  })

  it('drops flows of others where it does not answer for the address', async () => {
    const { one, two, stack } = await pair()
    await using _ = stack
    for (const node of [one, two]) node.configure(node.lines(['timeouts 3 2', 'refresh 1']))
    await one.start()
    await two.start()
    const flows = await open(VIP, 3)
    await two.knows({ local: 0, remote: 3 })
    await one.stop()
    await two.knows({ local: 0, remote: 0 }, 20_000)
    expect(await two.entries()).toEqual([])
    await closeAll(flows)
  })

  it('hands flows over to the node that gets the address, and back when that one dies', async () => {
    const { one, two, stack } = await pair()
    await using _ = stack
    // The kernel removes ended flows when they are listed, or within a minute.
    for (const node of [one, two]) node.configure(node.lines(['refresh 1']))
    await one.start()
    await two.start()
    const flows = await open(VIP, 4)
    const peer = lab.peer('client')
    await two.knows({ local: 0, remote: 4 })
    await one.letGo()
    await two.own()
    await two.knows({ local: 4, remote: 0 })
    await one.knows({ local: 0, remote: 4 })
    // The end of each flow is seen once, at either node.
    await peer.close(flows.pop()!.connection)
    await one.knows({ local: 0, remote: 3 })
    // If the first node loses flows of the second, it gets them again.
    await one.exec('conntrack', '-D', '-p', 'tcp', '-d', VIP, '--dport', '80')
    await expect.poll(() => one.lifetimes(), { timeout: 10_000 }).toSatisfy(allAtMost(300))
    expect(await Promise.all(flows.map(({ connection }) => peer.say(connection, 'moved')))).toEqual(
      flows.map(() => 'moved'),
    )
    await two.knows({ local: 3, remote: 0 })
    // A node that was away gets all flows again.
    await two.stop('SIGTERM')
    await two.start()
    await one.knows({ local: 0, remote: 3 })

    await two.die()
    await one.own()
    expect(await Promise.all(flows.map(({ connection }) => peer.say(connection, 'back')))).toEqual(
      flows.map(() => 'back'),
    )
    await one.knows({ local: 3, remote: 0 })
    await closeAll(flows)
    await one.knows({ local: 0, remote: 0 })
  })

  it('keeps entries only for as long as their node renews them, once it has let go', async () => {
    const { one, two, stack } = await pair()
    await using _ = stack
    for (const node of [one, two]) node.configure(node.lines(['timeouts 6 3', 'refresh 1']))
    await one.start()
    await two.start()
    const flows = await open(VIP, 3)
    await two.knows({ local: 0, remote: 3 })
    await one.letGo()
    await two.own()
    await two.knows({ local: 3, remote: 0 })
    await expect.poll(() => one.lifetimes(), { timeout: 10_000 }).toSatisfy(allAtMost(8))
    // The node takes the flows over at its next listing. Until then they have the short lifetime of replicated ones.
    const isOwn = (seconds: readonly number[]) => seconds.length === 3 && seconds.every((left) => left > 300)
    await expect.poll(() => two.lifetimes(), { timeout: 10_000 }).toSatisfy(isOwn)
    // Without its peer the node forgets the flows, since nothing renews them.
    await two.stop()
    await one.knows({ local: 0, remote: 0 }, 20_000)
    expect(await one.entries()).toEqual([])
    await two.start()
    await one.knows({ local: 0, remote: 3 })
    await closeAll(flows)
  })

  it('holds an address until the last interface or route that has it lets it go', async () => {
    const { one, stack } = await pair()
    await using _ = stack
    await one.start()
    const flows = [...(await open(VIP, 2)), ...(await open(VIP6, 2))]
    await one.knows({ local: 4, remote: 0 })
    const second = [
      `address add ${SHARED}/32 dev fab0`,
      `route add local ${SHARED6}/128 dev red0 table local metric 83`,
    ]
    await one.ip(...second)
    await one.ip(...second.map((line) => line.replace(' add ', ' delete ')))
    flows.push(...(await open(VIP, 1)), ...(await open(VIP6, 1)))
    await one.knows({ local: 6, remote: 0 })
    await one.letGo()
    await one.knows({ local: 0, remote: 6 })
    await one.own()
    await one.knows({ local: 6, remote: 0 })
    await closeAll(flows)
  })

  it('holds an address that something lets go of while the kernel is asked who has it', async () => {
    const { one, stack } = await pair()
    await using _ = stack
    const flows = [await begun(VIP), await begun(VIP6)]
    expect(flows.map(({ line }) => line)).toEqual([`red1 ${SHARED}`, `red1 ${SHARED6}`])
    const second = [
      `address add ${SHARED}/32 dev fab0`,
      `route add local ${SHARED6}/128 dev red0 table local metric 83`,
    ]
    const brief = [...second, ...second.map((line) => line.replace(' add ', ' delete '))]
    // When one of the two bindings of the address goes, the program asks the kernel whether the other one exists. The
    // next event may overtake the answer.
    for (let round = 0; round < ROUNDS; round++) {
      await one.start()
      await one.ip(...Array.from({ length: 20 }, () => brief).flat())
      // It reads the remaining events, then writes its last state.
      await one.stop('SIGTERM')
      expect(one.counts(), `in round ${round}`).toEqual({ local: 2, remote: 0 })
    }
    await closeAll(flows)
  })

  it('goes by its own word for flows that it carries, and doubts those that another saw end', async () => {
    const { one, two, stack } = await pair()
    await using _ = stack
    await one.start()
    await two.start()
    const flows = await open(VIP, 3)
    await two.knows({ local: 0, remote: 3 })
    // Both nodes hold the address for a moment. Members still have the first node's hardware address.
    await two.ip(`address replace ${SHARED}/32 dev red0`)
    await two.knows({ local: 3, remote: 0 })
    await one.knows({ local: 3, remote: 0 })
    await one.exec('conntrack', '-D', '-p', 'tcp', '-d', VIP, '--dport', '80')
    await one.knows({ local: 0, remote: 0 })
    await expect.poll(() => two.state()?.domains[0]?.insisted, { timeout: 10_000 }).toBe(3)
    expect(two.counts()).toEqual({ local: 3, remote: 0 })
    expect(await two.lifetimes()).toSatisfy(allAtMost(300))
    await one.letGo()
    await two.own()
    const say = ({ connection }: { readonly connection: number }) => lab.peer('client').say(connection, 'alive')
    expect(await Promise.all(flows.map(say))).toEqual(flows.map(() => 'alive'))
    await closeAll(flows)
  })

  it('says what is wrong with a configuration and keeps the last good one', async () => {
    const { one, stack } = await pair()
    await using _ = stack
    await one.start()
    for (const [line, error] of [
      ['peer 10.9.0.999 7300', 'line 2: not an address'],
      ['peer 10.9.0.2 0', 'line 2: not a port'],
      ['key 12', 'line 2: the key is not 64 hex digits'],
      ['domain 0 /x 10.0.0.1', 'line 2: the domain is not a number'],
      ['domain 1 x 10.0.0.1', 'line 2: the namespace is not an absolute path'],
      ['nonsense', 'line 2: not a line of a configuration'],
      ['timeouts 0 1', 'line 2: a timeout is not a number of seconds from 1 to 86400'],
    ] as const) {
      one.configure([one.lines()[0]!, line])
      await expect.poll(() => one.state()?.error, { timeout: 10_000 }).toBe(error)
      expect(one.state()?.domains).toHaveLength(1)
    }
    one.configure([...one.lines(), 'domain 8 /run/netns/absent 10.0.0.1'])
    await expect
      .poll(() => one.state()?.domains.find(({ domain }) => domain === 8)?.error, { timeout: 10_000 })
      .toMatch('No such file')
    expect(one.state()?.error).toBe(null)
    expect(readFileSync(`${one.directory}/state.json`, 'utf8')).not.toContain(KEY)
  })
})
