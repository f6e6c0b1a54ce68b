import { FakeClock } from '@spout/runtime/fake-clock'
import { recordFault } from '@spout/testkit'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { LoginLimiter } from './login-limiter.ts'
import { LOCAL_ADDRESS, sourceOf } from './login-source.ts'

const HERE = '192.0.2.1'
const ELSEWHERE = '198.51.100.7'
let clock: FakeClock
let limiter: LoginLimiter

beforeEach(() => {
  clock = new FakeClock()
  limiter = new LoginLimiter(clock)
})

const fail = (times: number, user: (time: number) => string, address: (time: number) => string) => {
  for (let time = 0; time < times; time++) limiter.failed(user(time), address(time))
}
/** The outcome of a login so far. */
async function outcomeOf(user: string, address: string): Promise<{ readonly is: string }> {
  const outcome = { is: 'waiting' }
  limiter.turn(user, address).then(
    () => (outcome.is = 'turn'),
    (error: unknown) => (outcome.is = (error as { code: string }).code),
  )
  await clock.advance(0)
  return outcome
}

describe('one user at one source', () => {
  test('is refused for a minute after ten failures, and no other user is', async () => {
    fail(
      9,
      () => 'ann',
      () => HERE,
    )
    expect(await outcomeOf('ann', HERE)).toEqual({ is: 'turn' })
    fail(
      1,
      () => 'ann',
      () => HERE,
    )
    expect(await outcomeOf('ann', HERE)).toEqual({ is: 'Unauthenticated' })
    expect(await outcomeOf('ann', ELSEWHERE)).toEqual({ is: 'turn' })
    expect(await outcomeOf('bob', HERE)).toEqual({ is: 'turn' })
    await clock.advance(60_000)
    expect(await outcomeOf('ann', HERE)).toEqual({ is: 'turn' })
  })

  test('is reset by a success', async () => {
    fail(
      9,
      () => 'ann',
      () => HERE,
    )
    limiter.succeeded('ann', HERE)
    fail(
      9,
      () => 'ann',
      () => HERE,
    )
    expect(await outcomeOf('ann', HERE)).toEqual({ is: 'turn' })
  })
})

describe('a source with many failures', () => {
  test('refuses no user: those who logged in before go on at once, new ones wait for a turn', async () => {
    limiter.succeeded('ann', HERE)
    fail(
      100,
      (time) => `user${time}`,
      () => HERE,
    )
    expect(await outcomeOf('ann', HERE)).toEqual({ is: 'turn' })
    // The first new user may log in at once. The pace counts from there.
    expect(await outcomeOf('bob', HERE)).toEqual({ is: 'turn' })
    const next = await outcomeOf('eve', HERE)
    expect(next).toEqual({ is: 'waiting' })
    await clock.advance(500)
    expect(next).toEqual({ is: 'turn' })
    recordFault({
      fault: '100 wrong passwords from the address that all share',
      outcome: 'users who were there before log in at once, a new one waits for one turn',
      figure: '500 ms',
    })
  })

  test('has a limited number of guesses a minute, over however many names', async () => {
    let guesses = 0
    fail(
      100,
      (time) => `user${time}`,
      () => HERE,
    )
    for (let tenth = 0; tenth < 600; tenth++) {
      for (let each = 0; each < 5; each++)
        limiter.turn(`name ${tenth} ${each}`, HERE).then(
          () => {
            guesses++
            limiter.failed(`name ${tenth} ${each}`, HERE)
          },
          () => {},
        )
      await clock.advance(100)
    }
    expect(guesses).toBeGreaterThan(100)
    expect(guesses).toBeLessThanOrEqual(121)
  })

  test('has a bounded queue, of which one user has two places', async () => {
    fail(
      100,
      (time) => `user${time}`,
      () => HERE,
    )
    await outcomeOf('first', HERE)
    const own = [await outcomeOf('eve', HERE), await outcomeOf('eve', HERE), await outcomeOf('eve', HERE)]
    expect(own.map(({ is }) => is)).toEqual(['waiting', 'waiting', 'Unavailable'])
    for (let user = 0; user < 30; user++) expect(await outcomeOf(`many${user}`, HERE)).toEqual({ is: 'waiting' })
    expect(await outcomeOf('one more', HERE)).toEqual({ is: 'Unavailable' })
    expect(await outcomeOf('one more', ELSEWHERE)).toEqual({ is: 'turn' })
  })

  test('is not forgotten because of a flood of names', async () => {
    fail(
      30_000,
      (time) => `user${time}`,
      () => HERE,
    )
    await outcomeOf('first', HERE)
    expect(await outcomeOf('somebody', HERE)).toEqual({ is: 'waiting' })
  })
})

test('a user tried from many sources goes on where they logged in before, and waits at new sources', async () => {
  limiter.succeeded('ann', ELSEWHERE)
  fail(
    60,
    () => 'ann',
    (time) => `203.0.113.${time}`,
  )
  expect(await outcomeOf('ann', ELSEWHERE)).toEqual({ is: 'turn' })
  expect(await outcomeOf('ann', '192.0.2.9')).toEqual({ is: 'turn' })
  const next = await outcomeOf('ann', '192.0.2.10')
  expect(next).toEqual({ is: 'waiting' })
  await clock.advance(500)
  expect(next).toEqual({ is: 'turn' })
  expect(await outcomeOf('bob', '203.0.113.5')).toEqual({ is: 'turn' })
})

test('a caller on the machine itself is never limited', async () => {
  fail(
    200,
    () => 'admin',
    () => LOCAL_ADDRESS,
  )
  fail(
    200,
    () => 'admin',
    () => HERE,
  )
  expect(await outcomeOf('admin', HERE)).toEqual({ is: 'Unauthenticated' })
  expect(await outcomeOf('admin', LOCAL_ADDRESS)).toEqual({ is: 'turn' })
})

test('whatever happens at other sources, a user without failures gets a turn', async () => {
  const guess = fc.record({ user: fc.constantFrom('ann', 'bob', 'eve'), address: fc.ipV4(), known: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(guess, { maxLength: 300 }), async (guesses) => {
      clock = new FakeClock()
      limiter = new LoginLimiter(clock)
      limiter.succeeded('ann', '2001:db8::1')
      for (const { user, address } of guesses) limiter.failed(user, address)
      expect(await outcomeOf('ann', '2001:db8::1')).toEqual({ is: 'turn' })
    }),
    { numRuns: 30 },
  )
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['64:ff9b::192.0.2.1', '192.0.2.1'],
  ['2001:db8:0:1:2:3:4:5', '2001:db8:0:1::/64'],
  ['2001:db8:0:1:ffff::', '2001:db8:0:1::/64'],
  ['2001:db8:0:2::1', '2001:db8:0:2::/64'],
  ['local', 'local'],
])('failures of %s count for %s', (address, source) => {
  expect(sourceOf(address)).toBe(source)
})
