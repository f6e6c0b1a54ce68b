import { mkdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../domain/run.ts'
import { Arrangement } from '../testing/arrangement.ts'
import { FlowNode, VIP } from '../testing/flows/flow-node.ts'

/** With sanitizers, since it finds more; flow-replication.lab.test.ts runs the build that is shipped. */
const PROGRAM = 'spout-flows-asan'

// Lost datagrams are noticed within seconds, while all flows are sent again only once a minute.

const TIMEOUT_MS = 60_000
/** Longer than counts and answers take on a busy machine, and far less than the minute until all flows are sent again. */
const SOON_MS = 20_000

let lab: Arrangement

beforeAll(async () => {
  lab = await Arrangement.create()
}, TIMEOUT_MS)
afterAll(() => lab[Symbol.asyncDispose]())

describe('spout-flows', { timeout: TIMEOUT_MS }, () => {
  /** Both nodes and their programs. The first node owns the addresses. */
  async function pair() {
    const stack = new AsyncDisposableStack()
    const one = stack.use(await FlowNode.create(lab, 1, PROGRAM))
    const two = stack.use(await FlowNode.create(lab, 2, PROGRAM))
    one.configure()
    two.configure()
    await one.own()
    await one.start()
    await two.start()
    return { one, two, stack }
  }

  const open = (count: number) => Promise.all(Array.from({ length: count }, () => lab.peer('client').open(VIP, 80)))
  const closeAll = async (flows: readonly { readonly connection: number }[]): Promise<void> => {
    for (const { connection } of flows) await lab.peer('client').close(connection)
  }
  const meets = async (node: FlowNode): Promise<void> =>
    expect.poll(() => node.state()?.peers[0]?.lastHeardMs ?? null, { timeout: SOON_MS }).not.toBe(null)

  it('has flows told again that came before it knew of their domain', async () => {
    const { one, two, stack } = await pair()
    await using _ = stack
    two.configure(two.lines().filter((line) => !line.startsWith('domain')))
    await expect.poll(() => two.state()?.domains, { timeout: SOON_MS }).toEqual([])
    await meets(one)
    await meets(two)
    const flows = await open(5)
    await one.knows({ local: 5, remote: 0 })
    two.configure()
    await two.knows({ local: 0, remote: 5 }, SOON_MS)
    await closeAll(flows)
  })

  it('meets a peer again that it was told to forget', async () => {
    const { one, two, stack } = await pair()
    await using _ = stack
    await meets(two)
    // Opened one by one, each flow is in a datagram of its own.
    const flows = []
    for (let i = 0; i < 60; i++) flows.push(...(await open(1)))
    await two.knows({ local: 0, remote: 60 })
    one.configure(one.lines().filter((line) => !line.startsWith('peer')))
    await expect.poll(() => one.state()?.peers, { timeout: SOON_MS }).toEqual([])
    flows.push(...(await open(5)))
    await one.knows({ local: 65, remote: 0 })
    one.configure()
    await two.knows({ local: 0, remote: 65 }, SOON_MS)
    await closeAll(flows)
  })

  it('asks again when its first question was lost, too', async () => {
    const { one, two, stack } = await pair()
    await using _ = stack
    await meets(one)
    await meets(two)
    await two.mute(true)
    const flows = await open(5)
    await one.knows({ local: 5, remote: 0 })
    await one.mute(true)
    await two.mute(false)
    await expect.poll(() => two.state()?.peers[0]?.lost ?? 0, { timeout: SOON_MS }).toBeGreaterThan(0)
    const sent = two.state()?.peers[0]?.sent ?? 0
    await expect.poll(() => two.state()?.peers[0]?.sent ?? 0, { timeout: SOON_MS }).toBeGreaterThan(sent + 3)
    expect(two.counts()).toEqual({ local: 0, remote: 0 })
    await one.mute(false)
    await two.knows({ local: 0, remote: 5 }, 15_000)
    await closeAll(flows)
  })

  it('has flows told again that vanished from its kernel', async () => {
    const { two, stack } = await pair()
    await using _ = stack
    const flows = await open(5)
    await two.knows({ local: 0, remote: 5 })
    await two.exec('conntrack', '-F')
    await two.knows({ local: 0, remote: 0 })
    await two.knows({ local: 0, remote: 5 }, SOON_MS)
    await closeAll(flows)
  })

  it('says how many flows did not come with an address', async () => {
    const { one, two, stack } = await pair()
    await using _ = stack
    const flows = await open(5)
    await two.knows({ local: 0, remote: 5 })
    await expect.poll(() => two.state()?.domains[0]?.promised, { timeout: SOON_MS }).toBe(5)
    await two.mute(true)
    await two.exec('conntrack', '-F')
    await two.knows({ local: 0, remote: 0 })
    await one.die()
    await two.own()
    await expect.poll(() => two.state()?.domains[0]?.missed, { timeout: SOON_MS }).toBe(5)
    expect(two.state()?.domains[0]?.lastMiss).toEqual({ atMs: expect.any(Number), expected: 5, came: 0 })
    await closeAll(flows)
  })

  it('tells of a flow that began just before its address went, although it learns of the address first', async () => {
    const { one, two, stack } = await pair()
    await using _ = stack
    await meets(one)
    await meets(two)
    one.signal('SIGSTOP')
    // The kernel reports sources in the order in which they had something to read: the addresses come first.
    await one.ip('address add 10.0.0.77/32 dev red0')
    const flows = await open(3)
    await one.letGo()
    await two.own()
    one.signal('SIGCONT')
    await two.knows({ local: 3, remote: 0 }, SOON_MS)
    expect(await Promise.all(flows.map(({ connection }) => lab.peer('client').say(connection, 'moved')))).toEqual(
      flows.map(() => 'moved'),
    )
    await closeAll(flows)
  })

  it('misses nothing in moves to and fro', async () => {
    const { one, two, stack } = await pair()
    await using _ = stack
    const flows = await open(5)
    const peer = lab.peer('client')
    await two.knows({ local: 0, remote: 5 })
    for (const [from, to] of [
      [one, two],
      [two, one],
    ] as const) {
      await expect.poll(() => to.state()?.domains[0]?.promised, { timeout: SOON_MS }).toBe(5)
      await from.letGo()
      await to.own()
      await to.knows({ local: 5, remote: 0 })
      await from.knows({ local: 0, remote: 5 })
    }
    expect(await peer.say(flows[0]!.connection, 'here')).toBe('here')
    // The check is made when the other node has reported that it carries nothing.
    await expect.poll(() => one.state()?.domains[0]?.promised, { timeout: SOON_MS }).toBe(0)
    await closeAll(flows)
    for (const node of [one, two]) expect(node.state()?.domains[0]).toMatchObject({ missed: 0, lastMiss: null })
  })

  it('goes on while its account cannot be written, as on a disk that stands still', async () => {
    const { one, two, stack } = await pair()
    await using _ = stack
    await meets(one)
    await meets(two)
    // Opening it for writing waits for a reader.
    await expect.poll(() => run('mkfifo', [path.join(one.directory, 'state.json.new')]).catch(() => null)).toBe('')
    const age = () => Date.now() - (one.state()?.writtenMs ?? Number.NaN)
    await expect.poll(age, { timeout: SOON_MS }).toBeGreaterThan(3_000)
    const flows = await open(5)
    await two.knows({ local: 0, remote: 5 })
    expect(age()).toBeGreaterThan(3_000)
    await one.die()
    await two.own()
    expect(await lab.peer('client').say(flows[0]!.connection, 'on')).toBe('on')
    await closeAll(flows)
  })

  it('reads a configuration that nothing told it of', async () => {
    const { one, stack } = await pair()
    await using _ = stack
    // The program's watch stays with the renamed directory.
    renameSync(one.directory, `${one.directory}.old`)
    mkdirSync(one.directory)
    one.configure([...one.lines(), 'domain 8 /run/netns/absent 10.0.0.1'])
    try {
      await expect.poll(() => one.state()?.domains.length, { timeout: SOON_MS }).toBe(2)
    } finally {
      rmSync(`${one.directory}.old`, { recursive: true })
    }
  })
})
