import { setImmediate } from 'node:timers/promises'
import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, test } from 'vitest'
import { pageCookie } from '../authn/page-cookie.ts'
import { OpenIdLogins } from './openid-logins.ts'

// How many may wait for a provider that is slow. Logins that end are tested with a real one, in apps/control-plane.
function slow() {
  let asked = 0
  const unused = (): never => {
    throw new Error('nobody got so far')
  }
  const logins = new OpenIdLogins({
    provider: {
      loginUrl: async () => 'https://login.example/',
      claimsOf: () => {
        asked++
        return new Promise(() => {})
      },
    },
    ...{ name: 'SSO', issuer: 'https://login.example', claims: { user: 'name', groups: 'groups' }, grants: [] },
    ...{ cookie: pageCookie(true, 'login'), pageUrl: 'https://spout.example/ui/', clock: new FakeClock() },
    ...{ admission: { putUser: unused }, view: {} as never, tokens: { issue: unused } },
  })
  return { logins, asked: () => asked }
}

test('a provider that is slow is asked a few things at once, and one address cannot fill the line', async () => {
  const { logins, asked } = slow()
  const { setCookie } = await logins.begin()
  const kept = /=([^;]+)/.exec(setCookie)?.[1] ?? ''
  const answer = { code: 'c', state: kept.split('.')[0] ?? '' }
  const refused: string[] = []
  const from = (address: string) =>
    void logins.personOf(kept, answer, address).catch((error: Error) => refused.push(error.message))
  for (let each = 0; each < 100; each++) from('192.0.2.1')
  from('192.0.2.2')
  await setImmediate()
  expect(asked()).toBe(8)
  expect(new Set(refused)).toEqual(new Set(['Login is not available: too many at the same time']))
  // As many wait as are asked about; the other address waits, too.
  expect(refused).toHaveLength(100 - 8 - 8)
})
