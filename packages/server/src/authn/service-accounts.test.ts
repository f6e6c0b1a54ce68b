import { expect, test } from 'vitest'
import { type AccountOfToken, ServiceAccounts } from './service-accounts.ts'

const KNOWN = [{ account: 'spout/connector', role: 'balancer', projectName: 'cluster' }] as const

const accounts = (answer: AccountOfToken | null | Error) =>
  new ServiceAccounts({
    review: () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)),
    accounts: KNOWN,
    agents: 'spout/agent',
  })
const tokenWith = (claims: object): string => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`
const connector: AccountOfToken = { namespace: 'spout', name: 'connector', node: 'n1' }
const agent: AccountOfToken = { namespace: 'spout', name: 'agent', node: 'n1' }
const why = (call: Promise<unknown>) =>
  call.then(
    () => 'let in',
    (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
  )

test('an account is what the settings say of it, for as long as its token lasts', async () => {
  const token = tokenWith({ exp: 1_800_000_000, sub: 'system:serviceaccount:spout:config' })
  expect(await accounts(connector).accountOf(token)).toEqual({
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
  expect(await why(accounts(answer).accountOf(tokenWith(claims)))).toContain(reason)
})

test('an agent is the agent of its node alone', async () => {
  expect(await accounts(agent).nodeOf(tokenWith({}))).toBe('n1')
  expect(await why(accounts(connector).nodeOf(tokenWith({})))).toContain('enrols no nodes')
  expect(await why(accounts({ ...agent, node: null }).nodeOf(tokenWith({})))).toContain('says no node')
})

test.each(['', 'hello', 'a.b', 'a.b.c.d', `a.b.${'c'.repeat(20_000)}`])(
  '%.12s is not even asked about',
  async (token) => {
    expect(await why(accounts(new Error('asked')).nodeOf(token))).toContain('is not known')
  },
)
