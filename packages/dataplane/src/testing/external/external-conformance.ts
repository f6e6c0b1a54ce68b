import type { DomainEntry } from '@spout/model/node-state'
import { ReplySocket } from '@spout/sys'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Feature, WantedEntry } from '../../contracts/driver.ts'
import { ExternalDriver } from '../../drivers/external/external-driver.ts'
import { member, pool, service, vip, wanted } from '../entries.ts'
import { silent } from '../lab-node.ts'

/** A driver in a process of its own, which the suite is run over. */
export interface ExternalPlace {
  readonly socket: string
  /** What it is configured for. */
  readonly features: readonly Feature[]
  /** The tenant network of the entries, and its namespace, which exists. */
  readonly domain: DomainEntry
  readonly netns: string
  /** What the device holds, in an order of its own. Left out where nobody can look. */
  readonly content?: () => Promise<unknown>
  end(): Promise<void>
}

const NUMBERS = { a: 1, b: 2, c: 3 } as const
type Id = keyof typeof NUMBERS

/** What every driver in a process of its own must do, whatever it drives. With real traffic: `describeDriver`. */
export function describeExternalDriver(name: string, start: () => Promise<ExternalPlace>): void {
  describe(`external driver: ${name}`, () => {
    let place: ExternalPlace
    let driver: ExternalDriver
    const agent = () =>
      new ExternalDriver({
        ...{ name, agent: 'conformance', socket: place.socket, features: place.features, log: silent },
        netns: () => place.netns,
      })

    beforeAll(async () => {
      place = await start()
    })
    afterAll(() => place?.end())
    beforeEach(async () => {
      driver = agent()
      await driver.adopt([])
      await driver.apply({ put: [], remove: [] })
      return async () => {
        await driver.apply({ put: [], remove: Object.keys(NUMBERS).map((id) => `lb/${id}`) })
        await driver.close()
      }
    })

    const entry = (id: Id, address = '10.0.0.11', vipAddress = `198.51.100.${20 + NUMBERS[id]}`): WantedEntry =>
      wanted(id, place.domain, {
        vips: [vip(vipAddress)],
        services: [service(`listener-${id}`, 80, NUMBERS[id], { protocol: 'tcp' })],
        pools: [pool(NUMBERS[id], [member(`m-${id}`, address)])],
      })
    const put = async (...entries: readonly WantedEntry[]) =>
      expect(await driver.apply({ put: entries, remove: [] })).toEqual(
        entries.map(({ key }) => ({ key, state: 'programmed', reason: null, message: null })),
      )
    const asked = async (...lines: readonly string[]) => {
      const socket = await ReplySocket.connect(place.socket, {
        ...{ requestEncoding: 'utf8', replyEnd: '\n', peer: name, onLost: () => {} },
        lost: (message) => new Error(message),
      })
      const answers = await socket.send(lines.map((line) => `${line}\n`))
      socket.close()
      return answers.map((answer) => JSON.parse(answer) as Record<string, unknown>)
    }

    it('says its version and features; refuses what it does not know with words, and goes on', async () => {
      const hello = { call: 'hello', agent: 'stranger', versions: [1], features: place.features }
      const [greeting, unknown, garbage, lost] = await asked(
        JSON.stringify(hello),
        '{"call":"no-such-call"}',
        'no JSON',
        '{"call":"observe"}',
      )
      expect(greeting).toMatchObject({ version: 1, features: expect.arrayContaining([...place.features]) })
      expect(unknown).toEqual(expect.objectContaining({ error: expect.stringMatching(/\w/) }))
      expect(garbage).toEqual(expect.objectContaining({ error: expect.stringMatching(/\w/) }))
      expect(lost).toMatchObject({ lost: [] })
    })

    it('does nothing for what is there, nor for the removal of what is not', async () => {
      await put(entry('a'), entry('b'))
      const before = driver.counters
      expect(before.transactions).toBeGreaterThan(0)
      const there = await place.content?.()
      await put(entry('a'), entry('b'))
      const [, , gone] = await asked(
        JSON.stringify({ call: 'hello', agent: 'another', versions: [1], features: place.features }),
        '{"call":"adopt","entries":[],"more":false}',
        '{"call":"apply","put":[],"remove":["lb/never-there"]}',
      )
      expect(gone).not.toHaveProperty('error')
      expect(driver.counters).toEqual(before)
      expect(await place.content?.()).toEqual(there)
      expect(await driver.observe()).toEqual([])
    })

    it('fails an entry that nobody can have, with words, and no other', async () => {
      await put(entry('a'))
      const [bad, other] = [entry('a', '10.0.0.11', 'no address'), entry('b')]
      const applied = await driver.apply({ put: [bad, other], remove: [] })
      expect(applied.toSorted((one, next) => one.key.localeCompare(next.key))).toEqual([
        { key: 'lb/a', state: 'failed', reason: expect.stringMatching(/\w/), message: expect.stringMatching(/\w/) },
        { key: 'lb/b', state: 'programmed', reason: null, message: null },
      ])
      expect(await driver.observe()).toEqual([])
    })

    it('adopts without a change what an agent before gave it', async () => {
      const entries = [entry('a'), entry('b')]
      await put(...entries)
      const there = await place.content?.()
      await driver.close()
      driver = agent()
      await driver.adopt(entries)
      await put(...entries)
      expect(driver.counters).toEqual({ transactions: 0, reloads: 0 })
      expect(await place.content?.()).toEqual(there)
      expect(await driver.observe()).toEqual([])
    })

    it('removes what an agent before gave it and nobody wants', async () => {
      if (place.content === undefined) return
      await put(entry('a'))
      const one = await place.content()
      await put(entry('b'))
      await driver.close()
      driver = agent()
      await driver.adopt([entry('a')])
      await put(entry('a'))
      expect(await place.content()).toEqual(one)
    })

    it('comes to the same by single steps in any order as at once', async () => {
      if (place.content === undefined) return
      const entries = [entry('a'), entry('b'), entry('c')]
      for (const each of entries.toReversed()) await put(each)
      const there = await place.content()
      await driver.apply({ put: [], remove: entries.map(({ key }) => key) })
      await put(...entries)
      expect(await place.content()).toEqual(there)
    })

    it('counts for load balancers that it has, or not at all', async () => {
      await put(entry('a'))
      const counted = await driver.stats()
      expect(counted.map(({ loadBalancerId, totalConnections }) => [loadBalancerId, totalConnections])).toEqual(
        counted.map(() => ['a', 0]),
      )
    })
  })
}
