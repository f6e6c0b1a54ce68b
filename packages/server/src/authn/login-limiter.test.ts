import { FakeClock } from '@spout/runtime/fake-clock'
import { describe, expect, test } from 'vitest'
import { LoginLimiter } from './login-limiter.ts'

const fail = (limiter: LoginLimiter, times: number, user: string, address: string) => {
  for (let time = 0; time < times; time++) limiter.failed(user, address)
}

describe('LoginLimiter', () => {
  test('ten failures lock one user at one address for a minute', async () => {
    const clock = new FakeClock()
    const limiter = new LoginLimiter(clock)
    fail(limiter, 9, 'ann', '192.0.2.1')
    expect(limiter.allows('ann', '192.0.2.1')).toBe(true)
    fail(limiter, 1, 'ann', '192.0.2.1')
    expect(limiter.allows('ann', '192.0.2.1')).toBe(false)
    expect(limiter.allows('ann', '192.0.2.2')).toBe(true)
    expect(limiter.allows('bob', '192.0.2.1')).toBe(true)
    await clock.advance(60_000)
    expect(limiter.allows('ann', '192.0.2.1')).toBe(true)
  })

  test('a success forgives the user', () => {
    const limiter = new LoginLimiter(new FakeClock())
    fail(limiter, 9, 'ann', '192.0.2.1')
    limiter.succeeded('ann', '192.0.2.1')
    fail(limiter, 9, 'ann', '192.0.2.1')
    expect(limiter.allows('ann', '192.0.2.1')).toBe(true)
  })

  test('one address may not try a hundred names', () => {
    const limiter = new LoginLimiter(new FakeClock())
    for (let user = 0; user < 100; user++) limiter.failed(`user${user}`, '192.0.2.1')
    expect(limiter.allows('somebody', '192.0.2.1')).toBe(false)
  })

  test('a flood of names does not push out the address that floods', () => {
    const limiter = new LoginLimiter(new FakeClock())
    for (let user = 0; user < 30_000; user++) limiter.failed(`user${user}`, '192.0.2.1')
    expect(limiter.allows('somebody', '192.0.2.1')).toBe(false)
  })
})
