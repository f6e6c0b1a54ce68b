import type { SpoutError } from '@spout/model'
import { FakeClock } from '@spout/runtime/fake-clock'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RequestShares } from './request-shares.ts'

let clock: FakeClock
let shares: RequestShares
const order: string[] = []

beforeEach(() => {
  order.length = 0
  clock = new FakeClock()
  shares = new RequestShares({ clock, perSecond: 10, burst: 100, mostWaiting: 50 })
})
afterEach(() => shares.close())

/** Records when the turn came, or the refusal. */
const ask = async (who: string): Promise<void> => {
  try {
    await shares.turn(who)
    order.push(who)
  } catch (error) {
    order.push(`${who} ${(error as SpoutError).code} ${(error as SpoutError).params.seconds}`)
  }
}
const round = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('turns', () => {
  test('a single request waits for one of a busy neighbour, not for all of them', async () => {
    const all = [...Array.from({ length: 40 }, () => ask('busy')), ask('quiet')]
    await Promise.all(all)
    expect(order.indexOf('quiet')).toBeLessThan(3)
    expect(order).toHaveLength(41)
  })

  test('in each round every share starts one, however many wait', async () => {
    const all = ['a', 'b', 'c'].flatMap((who) => Array.from({ length: 5 }, () => ask(who)))
    await Promise.all(all)
    for (let at = 0; at < 15; at += 3) expect(new Set(order.slice(at, at + 3))).toEqual(new Set(['a', 'b', 'c']))
  })

  test('in a round few start, and the share that used least starts before the many that wait', async () => {
    shares.close()
    shares = new RequestShares({ clock, perSecond: 10, burst: 100, mostOfRound: 3 })
    const many = Array.from({ length: 30 }, (_, number) => `busy ${number}`)
    for (const who of many) {
      await ask(who)
      shares.charge(who, 5)
      await round()
    }
    order.length = 0
    const all = many.flatMap((who) => [ask(who), ask(who)])
    await round()
    // This one is served last, after 60 others.
    all.push(ask('quiet'))
    await Promise.all(all)
    expect(order.indexOf('quiet')).toBeLessThanOrEqual(3 + 3)
    expect(order).toHaveLength(61)
    // The others are served fairly as before: none twice before each once.
    const others = order.filter((who) => who !== 'quiet')
    expect(new Set(others.slice(0, 30)).size).toBe(30)
  })

  test('a request that waits only because the server is busy is not refused', async () => {
    shares.close()
    shares = new RequestShares({ clock, perSecond: 10, burst: 100, mostOfRound: 1, longestWaitMs: 10 })
    const all = Array.from({ length: 20 }, (_, number) => ask(`${number}`))
    await clock.advance(1000)
    await Promise.all(all)
    expect(order).toHaveLength(20)
    expect(order.filter((one) => one.includes('TooMany'))).toEqual([])
  })

  test('a share that is alone does not wait', async () => {
    await shares.turn('alone')
    await round()
    let now = false
    void shares.turn('alone').then(() => {
      now = true
    })
    await Promise.resolve()
    expect(now).toBe(true)
  })
})

describe('budgets', () => {
  const spend = async (who: string, units: number): Promise<void> => {
    await ask(who)
    shares.charge(who, units)
  }

  test('a share without units is slowed to its rate, then refused with the time to wait; others go on', async () => {
    await spend('greedy', 109)
    const waiting = ask('greedy')
    await clock.advance(990)
    await round()
    expect(order).toEqual(['greedy'])
    await ask('other')
    await clock.advance(20)
    await waiting
    expect(order).toEqual(['greedy', 'other', 'greedy TooManyRequests 1'])
    await clock.advance(200)
    await ask('greedy')
    expect(order.at(-1)).toBe('greedy')
  })

  test('a waiting request starts as soon as its share has units again', async () => {
    await spend('greedy', 101)
    const waiting = ask('greedy')
    await clock.advance(500)
    await waiting
    expect(order).toEqual(['greedy', 'greedy'])
  })

  const refused = () => order.filter((one) => one.includes('TooManyRequests')).length

  test('the queue of a share is limited, and what exceeds it is refused no sooner than what waits in vain', async () => {
    await spend('greedy', 1000)
    const all = Array.from({ length: 60 }, () => ask('greedy'))
    expect(shares.waiting).toBe(50)
    await clock.advance(990)
    await round()
    expect(refused()).toBe(0)
    await clock.advance(110)
    await Promise.all(all)
    expect([refused(), shares.waiting]).toEqual([60, 0])
  })

  test('requests that are to be refused are limited too: one more is refused at once', async () => {
    shares.close()
    shares = new RequestShares({ clock, perSecond: 10, burst: 100, mostWaiting: 5, mostRefusals: 3 })
    await spend('greedy', 1000)
    const all = Array.from({ length: 10 }, () => ask('greedy'))
    await round()
    expect(refused()).toBe(2)
    await clock.advance(1100)
    await Promise.all(all)
    expect(refused()).toBe(10)
  })

  test('one request is refused in each round, and others start between', async () => {
    await spend('greedy', 1000)
    const all = Array.from({ length: 60 }, () => ask('greedy'))
    await clock.advance(1100)
    const before = refused()
    all.push(ask('quiet'))
    await round()
    expect(refused() - before).toBeLessThanOrEqual(2)
    expect(order).toContain('quiet')
    await Promise.all(all)
    expect(refused()).toBe(60)
  })

  test('a server that closes leaves no request without an answer', async () => {
    await spend('greedy', 1000)
    const all = Array.from({ length: 60 }, () => ask('greedy'))
    shares.close()
    await Promise.all(all)
    expect(order).toHaveLength(61)
  })

  test('a debt is limited: after the time of two bursts every share is served again', async () => {
    await spend('greedy', 1e9)
    await clock.advance(20_100)
    await ask('greedy')
    expect(order).toEqual(['greedy', 'greedy'])
  })

  test('the number of remembered shares is limited', async () => {
    shares.close()
    shares = new RequestShares({ clock, perSecond: 1, burst: 1, mostShares: 3 })
    await spend('first', 1)
    for (const who of ['second', 'third', 'fourth']) await ask(who)
    await round()
    // The share was forgotten, so it is like a new one.
    await ask('first')
    expect(order.at(-1)).toBe('first')
  })
})

test('others count as active as long as one of them has just started a request', async () => {
  expect(shares.othersAsk('a')).toBe(false)
  await ask('a')
  expect([shares.othersAsk('a'), shares.othersAsk('b')]).toEqual([false, true])
  await round()
  await ask('b')
  expect([shares.othersAsk('a'), shares.othersAsk('b'), shares.othersAsk('c')]).toEqual([true, true, true])
  clock.stall(60)
  await round()
  await ask('a')
  clock.stall(60)
  expect([shares.othersAsk('a'), shares.othersAsk('b')]).toEqual([false, true])
  clock.stall(60)
  expect(shares.othersAsk('b')).toBe(false)
})
