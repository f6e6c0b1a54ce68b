import { loadBalancerKey } from '@spout/model/entry-keys'
import type { DomainEntry, NodeMember } from '@spout/model/node-state'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Applied, DataPlaneDriver, WantedEntry } from '../contracts/driver.ts'
import { pool, service, vip, wanted } from './entries.ts'
import type { Peer } from './peer-client.ts'

/** Where a lab's driver works, and the real traffic that goes through it. */
export interface DriverLab {
  readonly domain: DomainEntry
  /** What services are to speak for this driver to carry them. */
  readonly protocol: 'tcp' | 'tcp-proxy'
  /** They serve TCP: each greets with its id, then echoes. */
  readonly members: readonly [NodeMember, NodeMember, NodeMember]
  readonly client: Peer
  /** Answers go to the client by another way: their bytes are not counted. */
  readonly answersPassBy?: true
  /** The driver as an agent that has just started has it. The one before was dropped as it stood, not closed. */
  restart(): Promise<DataPlaneDriver>
  /** Where the client finds the entry's service. */
  frontEnd(wanted: WantedEntry): FrontEnd
  /** The entry, changed in such a way that the kernel or proxy refuses it while `neighbour` is in force. */
  refused(wanted: WantedEntry, neighbour: WantedEntry): Promise<WantedEntry>
  /** Takes from the kernel or proxy what it was given, behind the driver's back. */
  meddle(): Promise<void>
  /** What the kernel or proxy holds for the entries, in an order of its own; no counters. */
  content(entries: readonly WantedEntry[]): Promise<unknown>
  end(): Promise<void>
}

export interface FrontEnd {
  readonly address: string
  readonly port: number
}

/** The load balancers of the suite, and the last part of the VIP and the number of the pool of each. */
const NUMBERS = { a: 1, b: 2, c: 3, quiet: 4 } as const
type Id = keyof typeof NUMBERS

/** VIPs are in a prefix for documentation (RFC 5737): a lab routes it to its node. */
export const VIP_PREFIX = '198.51.100.0/24'

/** Each of three members gets one of so many connections, but for one run in 10^6. */
const CONNECTIONS = 40

/** The contract of `DataPlaneDriver` with real traffic, run over one driver. */
export function describeDriver(name: string, make: () => Promise<DriverLab>): void {
  describe(`DataPlaneDriver: ${name}`, () => {
    const signal = new AbortController().signal
    let lab: DriverLab
    let driver: DataPlaneDriver

    beforeAll(async () => {
      lab = await make()
    })
    afterAll(() => lab?.end())
    beforeEach(async () => {
      driver = await lab.restart()
      await driver.adopt([])
    })
    afterEach(async () => {
      await remove(...Object.keys(NUMBERS))
      await driver.close()
    })

    const entry = (id: Id, members: readonly NodeMember[], down: readonly NodeMember[] = []): WantedEntry => {
      const proxied = lab.protocol === 'tcp' ? {} : { mode: lab.protocol, slots: null }
      return wanted(
        id,
        lab.domain,
        {
          vips: [vip(`198.51.100.${NUMBERS[id]}`)],
          services: [service(`listener-${id}`, 80, NUMBERS[id], { protocol: lab.protocol })],
          pools: [pool(NUMBERS[id], members, proxied)],
        },
        down.map((member) => member.id),
      )
    }
    const apply = (put: readonly WantedEntry[], remove: readonly string[] = []) => driver.apply({ put, remove }, signal)
    const put = async (...entries: readonly WantedEntry[]): Promise<void> =>
      expect(byKey(await apply(entries))).toEqual(
        byKey(entries.map(({ key }) => ({ key, state: 'programmed', reason: null, message: null }))),
      )
    const remove = async (...ids: readonly string[]): Promise<void> => {
      const applied = await apply([], ids.map(loadBalancerKey))
      expect(applied.filter(({ state }) => state === 'failed')).toEqual([])
    }
    const ids = (...members: readonly NodeMember[]) => members.map(({ id }) => id).sort()
    const connect = async ({ address, port }: FrontEnd) => (await lab.client.connect(address, port)).split(' ')[0] ?? ''
    /** Who answers new connections; for those that nobody answers, how they ended. */
    const answering = async (frontEnd: FrontEnd): Promise<readonly string[]> =>
      [...new Set(await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(frontEnd))))].sort()
    const answersNobody = async (frontEnd: FrontEnd) =>
      expect(ids(...lab.members)).not.toContain(await connect(frontEnd))
    /** A connection that a certain member serves. */
    const openTo = async (frontEnd: FrontEnd, member: NodeMember): Promise<number> => {
      for (;;) {
        const { connection, line } = await lab.client.open(frontEnd.address, frontEnd.port)
        if (line.startsWith(`${member.id} `)) return connection
        expect(ids(...lab.members)).toContain(line.split(' ')[0])
        await lab.client.close(connection)
      }
    }
    const expectAlive = async (connection: number) =>
      expect(await lab.client.say(connection, 'still there?')).toBe('still there?')

    /** Counters once the driver has done what it does of itself after a change: `observe` waits its turn. */
    const settled = async () => {
      expect(await driver.observe()).toEqual([])
      return driver.counters
    }

    it('renders an entry always the same, and leaves it alone', () => {
      const wanted = entry('a', [...lab.members])
      const copy = structuredClone(wanted)
      expect(driver.render(wanted)).toEqual(driver.render(copy))
      expect(wanted).toEqual(copy)
    })

    it('lets a service answer from all its members until it is removed', async () => {
      const wanted = entry('a', [...lab.members])
      await put(wanted)
      const frontEnd = lab.frontEnd(wanted)
      expect(await answering(frontEnd)).toEqual(ids(...lab.members))
      await remove('a')
      await answersNobody(frontEnd)
    })

    it('does nothing for what is there, nor for the removal of what is not', async () => {
      const entries = [entry('a', [...lab.members]), entry('b', [lab.members[0]])]
      await put(...entries)
      const before = await settled()
      await put(...entries)
      await remove('c', 'never-there')
      expect(await settled()).toEqual(before)
    })

    it('leaves the other members and load balancers alone when one member is exchanged', async () => {
      const [m1, m2, m3] = lab.members
      const [changing, other] = [entry('a', [m1, m2]), entry('b', [m2])]
      await put(changing, other)
      const frontEnd = lab.frontEnd(changing)
      const connections = [await openTo(frontEnd, m1), await openTo(lab.frontEnd(other), m2)]
      await put(entry('a', [m1, m3]))
      expect(lab.frontEnd(changing)).toEqual(frontEnd)
      expect(await answering(frontEnd)).toEqual(ids(m1, m3))
      for (const connection of connections) {
        await expectAlive(connection)
        await lab.client.close(connection)
      }
      expect(await answering(lab.frontEnd(other))).toEqual(ids(m2))
    })

    it('gives a member that is down nothing, and its part once it is up', async () => {
      const [m1, m2, m3] = lab.members
      const up = entry('a', [m1, m2, m3])
      await put(entry('a', [m1, m2, m3], [m2]))
      const frontEnd = lab.frontEnd(up)
      expect(await answering(frontEnd)).toEqual(ids(m1, m3))
      await put(up)
      expect(await answering(frontEnd)).toEqual(ids(m1, m2, m3))
      await put(entry('a', [m1, m2, m3], [m1, m2, m3]))
      await answersNobody(frontEnd)
    })

    it.each(['malformed', 'refused'] as const)('fails an entry that is %s, with words, and no other', async (kind) => {
      const [m1, m2, m3] = lab.members
      const [before, neighbour, other] = [entry('a', [m1]), entry('b', [m2]), entry('c', [m3])]
      await put(before, neighbour)
      const malformed = () => entry('a', [m1, { ...m2, address: '10.0.0.1:80 check' }])
      const bad = kind === 'malformed' ? malformed() : await lab.refused(before, neighbour)
      const applied = await apply([bad, other])
      expect(byKey(applied)).toEqual([
        { key: 'lb/a', state: 'failed', reason: expect.stringMatching(/\w/), message: expect.stringMatching(/\w/) },
        { key: 'lb/c', state: 'programmed', reason: null, message: null },
      ])
      expect(await answering(lab.frontEnd(before))).toEqual(ids(m1))
      expect(await answering(lab.frontEnd(neighbour))).toEqual(ids(m2))
      expect(await answering(lab.frontEnd(other))).toEqual(ids(m3))
      expect(await driver.observe()).toEqual([])
    })

    it('adopts what an earlier process left, without a change, while traffic goes on', async () => {
      const [m1, m2] = lab.members
      const entries = [entry('a', [m1, m2]), entry('b', [m1, m2], [m2])]
      await put(...entries)
      await settled()
      const frontEnds = entries.map((each) => lab.frontEnd(each))
      const connection = await openTo(frontEnds[0]!, m2)
      const stop = keepAsking(() => connect(frontEnds[0]!))
      try {
        driver = await lab.restart()
        await driver.adopt(entries)
        await put(...entries)
        expect(await settled()).toEqual({ transactions: 0, reloads: 0 })
      } finally {
        expect((await stop()).filter((answer) => !ids(m1, m2).includes(answer))).toEqual([])
      }
      expect(entries.map((each) => lab.frontEnd(each))).toEqual(frontEnds)
      expect(await answering(frontEnds[0]!)).toEqual(ids(m1, m2))
      expect(await answering(frontEnds[1]!)).toEqual(ids(m1))
      await expectAlive(connection)
      await lab.client.close(connection)
    })

    it('removes what an earlier process left and nobody wants', async () => {
      const [m1, m2] = lab.members
      const [kept, left] = [entry('a', [m1]), entry('b', [m2])]
      await put(kept, left)
      const frontEnd = lab.frontEnd(left)
      driver = await lab.restart()
      await driver.adopt([kept])
      expect(await answering(frontEnd)).toEqual(ids(m2))
      await put(kept)
      await answersNobody(frontEnd)
      expect(await answering(lab.frontEnd(kept))).toEqual(ids(m1))
    })

    it('names what was changed behind its back, and puts it right', async () => {
      const wanted = entry('a', [...lab.members])
      await put(wanted)
      const frontEnd = lab.frontEnd(wanted)
      expect(await driver.observe()).toEqual([])
      await lab.meddle()
      await answersNobody(frontEnd)
      expect(await driver.observe()).toEqual([wanted.key])
      await put(wanted)
      expect(await driver.observe()).toEqual([])
      expect(await answering(frontEnd)).toEqual(ids(...lab.members))
    })

    it('removes what was taken away behind its back, and brings it back when asked', async () => {
      const wanted = entry('a', [...lab.members])
      await put(wanted)
      await lab.meddle()
      await remove('a')
      await put(wanted)
      expect(await answering(lab.frontEnd(wanted))).toEqual(ids(...lab.members))
    })

    it('counts', async () => {
      const wanted = entry('a', [...lab.members])
      // Nobody asked it for anything yet: clients of the others may still be telling them that they are done.
      await put(wanted, entry('quiet', [...lab.members]))
      const of = async (listener: string) =>
        (await driver.stats()).find(({ listenerId }) => listenerId === `listener-${listener}`)
      const frontEnd = lab.frontEnd(wanted)
      for (let turn = 0; turn < 3; turn++) {
        const { connection } = await lab.client.open(frontEnd.address, frontEnd.port)
        await expectAlive(connection)
        await lab.client.close(connection)
      }
      const some = expect.toSatisfy((bytes: number) => bytes > 3 * 'still there?'.length)
      await expect
        .poll(() => of('a'))
        .toMatchObject({
          loadBalancerId: 'a',
          totalConnections: 3,
          bytesIn: some,
          bytesOut: lab.answersPassBy ? 0 : some,
        })
      expect(await of('quiet')).toMatchObject({ activeConnections: 0, totalConnections: 0, bytesIn: 0, bytesOut: 0 })
    })

    it('comes to the same by single steps in any order as at once', async () => {
      const [m1, m2, m3] = lab.members
      const entries = [entry('a', [m1, m2, m3]), entry('b', [m1, m2], [m2]), entry('c', [m3])]
      await put(entry('c', [m1, m2]))
      for (const each of entries.toReversed()) await put(each)
      const there = await lab.content(entries)
      await remove('a', 'b', 'c')
      await put(...entries)
      await expect.poll(() => lab.content(entries)).toEqual(there)
      const counters = await settled()
      for (const each of entries.toReversed()) await put(each)
      expect(await settled()).toEqual(counters)
    })
  })
}

const byKey = (applied: readonly Applied[]): readonly Applied[] =>
  applied.toSorted((one, other) => one.key.localeCompare(other.key))

/** Asks over and over until stopped; every answer. */
function keepAsking(ask: () => Promise<string>): () => Promise<readonly string[]> {
  const answers: string[] = []
  let asking = true
  const asked = (async () => {
    while (asking) answers.push(await ask())
  })()
  return async () => {
    asking = false
    await asked
    return answers
  }
}
