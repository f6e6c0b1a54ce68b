import { expect, test } from 'vitest'
import { type ShareUse, ShareWatch } from './share-watch.ts'

const log = { debug: () => {}, info: () => {}, warn: () => {} }

/** A watch of domains 1 and 2. The test sets their counts and the time. */
function watched() {
  const state = {
    nowMs: 0,
    domains: [1, 2],
    refused: new Map([
      [1, 0],
      [2, 0],
    ]),
    used: 10,
    isFull: false,
    reads: 0,
    lookTakesMs: 0,
  }
  const watch = new ShareWatch({
    domains: () => state.domains,
    sources: [
      {
        read: async (domain): Promise<readonly ShareUse[]> => {
          state.reads++
          state.nowMs += state.lookTakesMs
          const refused = state.refused.get(domain)
          if (refused === undefined) throw new Error('gone')
          return [
            { share: 'packets', limit: 100, used: domain * state.used, refused },
            { share: 'flows', limit: 50, used: 49, refused: null, isOver: state.isFull && domain === 2 },
          ]
        },
      },
    ],
    log,
    now: () => state.nowMs,
  })
  return { state, watch }
}

test('refusals before the first read are not reported; later ones are, for a minute', async () => {
  const { state, watch } = watched()
  state.refused.set(1, 1_000)
  expect(await watch.look()).toEqual([])
  state.refused.set(1, 1_001)
  const [report, ...others] = await watch.look()
  expect(others).toEqual([])
  expect(report).toEqual({ domain: 1, share: 'packets', limit: 100, refused: true })
  state.nowMs = 59_999
  expect(await watch.look()).toEqual([report])
  state.nowMs = 60_000
  expect(await watch.look()).toEqual([])
  expect(watch.figures().packets?.refused).toBe(1)
})

test('a domain with repeated refusals has the same report until a minute after the last one', async () => {
  const { state, watch } = watched()
  await watch.look()
  state.refused.set(2, 5)
  const first = await watch.look()
  state.nowMs = 50_000
  state.refused.set(2, 6)
  expect(await watch.look()).toEqual(first)
  state.nowMs = 109_999
  expect(await watch.look()).toEqual(first)
  state.nowMs = 110_000
  expect(await watch.look()).toEqual([])
})

test('a domain without refusals for a minute is within its share', async () => {
  const uses = { refused: 0, isOver: true }
  const state = { nowMs: 0 }
  const read = async (): Promise<readonly ShareUse[]> => [{ share: 'memory', limit: 9, used: 9, ...uses }]
  const watch = new ShareWatch({ domains: () => [1], sources: [{ read }], log, now: () => state.nowMs })
  const refused = async (atMs: number) => {
    state.nowMs = atMs
    return (await watch.look()).map((one) => one.refused)
  }
  expect(await refused(0)).toEqual([false])
  uses.refused = 1
  expect(await refused(10_000)).toEqual([true])
  expect(await refused(69_999)).toEqual([true])
  expect(await refused(70_000)).toEqual([false])
  uses.isOver = false
  expect(await refused(129_999)).toEqual([false])
  expect(await refused(130_000)).toEqual([])
})

test('a count that restarts continues, and a full table is reported by itself', async () => {
  const { state, watch } = watched()
  state.refused.set(1, 50)
  await watch.look()
  state.refused.set(1, 3)
  state.isFull = true
  expect((await watch.look()).map(({ domain, share }) => `${domain} ${share}`)).toEqual(['1 packets', '2 flows'])
  expect(watch.figures()).toEqual({
    packets: { refused: 3, mostUsed: 0.2, over: 1 },
    flows: { refused: 0, mostUsed: 0.98, over: 1 },
  })
})

test('a proxy that came and was refused something between two looks is reported, each one of its name', async () => {
  const state: { uses: readonly ShareUse[] } = { uses: [] }
  const watch = new ShareWatch({ domains: () => [1], sources: [{ read: async () => state.uses }], log, now: () => 0 })
  const killed: readonly ShareUse[] = [{ share: 'memory', limit: 9, used: 1, refused: 1 }]
  for (const [uses, refused] of [
    [[], undefined],
    [killed, 1],
    [[], 1],
    [killed, 2],
    [killed, 2],
  ] as const) {
    state.uses = uses
    await watch.look()
    expect(watch.figures().memory?.refused).toBe(refused)
  }
  expect(await watch.look()).toEqual([{ domain: 1, share: 'memory', limit: 9, refused: true }])
})

test('a domain that came after the first look, and was refused something before the next, is reported', async () => {
  const { state, watch } = watched()
  state.domains = [1]
  await watch.look()
  state.domains = [1, 2]
  state.refused.set(2, 1)
  expect(await watch.look()).toEqual([{ domain: 2, share: 'packets', limit: 100, refused: true }])
})

test('a domain that was there at the first look, and could not be read, begins with its next read', async () => {
  const { state, watch } = watched()
  state.refused.delete(1)
  await watch.look()
  state.refused.set(1, 7)
  expect(await watch.look()).toEqual([])
  state.refused.set(1, 8)
  expect(await watch.look()).toMatchObject([{ domain: 1, refused: true }])
})

test('a domain that cannot be read hides no other, and one that is gone is forgotten', async () => {
  const { state, watch } = watched()
  await watch.look()
  state.refused.delete(1)
  state.refused.set(2, 1)
  expect((await watch.look()).map(({ domain }) => domain)).toEqual([2])
  state.domains = [1]
  expect(await watch.look()).toEqual([])
})

test('reading takes at most a hundredth of the time', async () => {
  const { state, watch } = watched()
  state.lookTakesMs = 10
  const readsAt = async (nowMs: number) => {
    const before = state.reads
    state.nowMs = nowMs
    await watch.look()
    return state.reads - before
  }
  // Two domains: 20 ms, after which 2 s are for others.
  expect(await readsAt(0)).toBe(2)
  expect(await readsAt(2_019)).toBe(0)
  expect(await readsAt(2_020)).toBe(2)
})

test('the next look does not wait longer because a proxy that is slowed down kept this one waiting', async () => {
  const { state, watch } = watched()
  state.lookTakesMs = 5_000
  await watch.look()
  expect([state.nowMs, state.reads]).toEqual([10_000, 2])
  // Each domain has two uses, of which each costs 5 ms at most.
  state.nowMs = 11_999
  await watch.look()
  expect(state.reads).toBe(2)
  state.nowMs = 12_000
  await watch.look()
  expect(state.reads).toBe(4)
})

test('a domain that cannot be read costs time as well', async () => {
  const { state, watch } = watched()
  state.domains = [1]
  state.refused.delete(1)
  state.lookTakesMs = 5_000
  await watch.look()
  // Nobody knows how many uses it has, so it is taken to have one: 5 ms.
  state.nowMs = 5_499
  await watch.look()
  expect(state.reads).toBe(1)
  state.nowMs = 5_500
  await watch.look()
  expect(state.reads).toBe(2)
})
