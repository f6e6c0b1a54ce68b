import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { expect, test } from 'vitest'
import { type AccountOfToken, ServiceAccounts } from './service-accounts.ts'

const KNOWN = [{ account: 'spout/connector', role: 'balancer', projectName: 'cluster' }] as const

const FROM = '192.0.2.7'

const accounts = (answer: AccountOfToken | null | Error, clock = new FakeClock()) =>
  new ServiceAccounts({
    review: () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)),
    accounts: KNOWN,
    agents: 'spout/agent',
    clock,
    log: silentLogger(),
  })
const tokenWith = (claims: object): string => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`
const connector: AccountOfToken = { namespace: 'spout', name: 'connector', node: 'n1' }
const agent: AccountOfToken = { namespace: 'spout', name: 'agent', node: 'n1' }
const why = (call: Promise<unknown>) =>
  call.then(
    () => 'let in',
    (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
  )

test('an account is what the settings say, as long as its token lasts', async () => {
  const token = tokenWith({ exp: 1_800_000_000, sub: 'system:serviceaccount:spout:config' })
  expect(await accounts(connector).accountOf(token, FROM)).toEqual({
    account: KNOWN[0],
    expiresAt: '2027-01-15T08:00:00.000Z',
  })
})

test.each<readonly [string, AccountOfToken | null | Error, object, string]>([
  ['nobody', null, { exp: 1_800_000_000 }, 'Unauthenticated'],
  ['an account of another name', agent, { exp: 1_800_000_000 }, 'has no role here'],
  [
    'an account of another namespace',
    { ...connector, namespace: 'default' },
    { exp: 1_800_000_000 },
    'has no role here',
  ],
  ['a token without an end', connector, {}, 'the token has no end'],
  ['an end that is none', connector, { exp: '1800000000' }, 'the token has no end'],
  ['an API server that does not answer', new Error('down'), { exp: 1_800_000_000 }, 'Unavailable'],
])('no login for %s', async (_, answer, claims, reason) => {
  expect(await why(accounts(answer).accountOf(tokenWith(claims), FROM))).toContain(reason)
})

test('an agent may enrol its own node only', async () => {
  expect(await accounts(agent).nodeOf(tokenWith({}), FROM)).toBe('n1')
  expect(await why(accounts(connector).nodeOf(tokenWith({}), FROM))).toContain('enrols no nodes')
  expect(await why(accounts({ ...agent, node: null }).nodeOf(tokenWith({}), FROM))).toContain('names no node')
})

test.each(['', 'hello', 'a.b', 'a.b.c.d', `a.b.${'c'.repeat(20_000)}`])(
  '%.12s is refused without asking the API server',
  async (token) => {
    expect(await why(accounts(new Error('asked')).nodeOf(token, FROM))).toContain('is not known')
  },
)

test('ten refusals lock an address out for a minute, whichever way tokens are tried', async () => {
  const clock = new FakeClock()
  const tried = accounts(connector, clock)
  const good = tokenWith({ exp: 1_800_000_000 })
  const enrol = (from: string) => why(tried.nodeOf(good, from))
  for (let time = 0; time < 5; time++) {
    expect(await enrol(FROM)).toContain('enrols no nodes')
    expect(await why(tried.accountOf(tokenWith({}), FROM))).toContain('has no end')
  }
  expect(await enrol(FROM)).toContain('too many failed logins')
  expect(await why(tried.accountOf(good, FROM))).toContain('too many failed logins')
  expect(await enrol('192.0.2.8')).toContain('enrols no nodes')
  await clock.advance(60_000)
  expect(await why(tried.accountOf(good, FROM))).toBe('let in')
})

test('an API server that does not answer counts no failure, and a success resets the count', async () => {
  const away = accounts(new Error('down'))
  for (let time = 0; time < 11; time++) expect(await why(away.nodeOf(tokenWith({}), FROM))).toContain('Unavailable')
  const known = accounts(connector)
  for (let time = 0; time < 18; time++) {
    expect(await why(known.nodeOf(tokenWith({}), FROM))).toContain('enrols no nodes')
    if (time === 8) expect(await why(known.accountOf(tokenWith({ exp: 1_800_000_000 }), FROM))).toBe('let in')
  }
})
