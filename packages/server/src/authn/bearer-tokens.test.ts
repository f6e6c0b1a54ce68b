import { createLogger } from '@spout/runtime/logger'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADMIN_PASSWORD, openTestBed, type TestBed } from '../testing/test-bed.ts'
import { ServiceAccounts } from './service-accounts.ts'

// Rules for bearer tokens that every surface keeps (RFC 6750 section 5.3, RFC 8725 sections 3.1 and 3.10).

const lines: string[] = []
let bed: TestBed
let projectId: string

beforeAll(async () => {
  const log = createLogger({ name: 'test', level: 'trace', destination: { write: (line) => lines.push(line) } })
  bed = await openTestBed(undefined, undefined, { log })
  projectId = (await bed.admission.createProject({ name: 'one', description: '' })).id
})
afterAll(() => bed.close())

const READS = ['/api/v1/networks', '/identity/v3/projects', '/network/v2.0/networks'] as const
const statusOf = async (url: string, token: string | null, headers: object = {}): Promise<number> =>
  (await bed.ask('GET', url, token, undefined, headers)).status

describe.each(READS)('%s', (url) => {
  test('refuses a revoked token from the next request on', async () => {
    const { token } = await bed.login(`revoked at ${url}`, projectId, 'member')
    expect(await statusOf(url, token)).toBe(200)
    expect((await bed.askNative('DELETE', '/tokens/current', token)).status).toBe(204)
    for (let time = 0; time < 3; time++) expect(await statusOf(url, token)).toBe(401)
  })

  test.each(['token', 'access_token', 'auth_token', 'X-Auth-Token', 'authorization'])(
    'accepts no token in the URL, as %s',
    async (name) => {
      const { token } = await bed.login(`${name} at ${url}`, projectId, 'member')
      expect(await statusOf(`${url}?${name}=${token}`, null)).toBe(401)
      expect(await statusOf(url, null, { cookie: `${name}=${token}` })).toBe(401)
    },
  )

  const jwt = (header: object): string =>
    [header, { sub: 'admin', exp: 4_000_000_000 }, 'signature']
      .map((part) => Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url'))
      .join('.')
  test.each([
    ['signed by nobody', jwt({ alg: 'none' })],
    ['signed by nobody, and without a signature', jwt({ alg: 'none' }).replace(/[^.]*$/, '')],
    ['with a key id that is a path', jwt({ alg: 'HS256', kid: '../../../../dev/null' })],
    ['with a key id that is a query', jwt({ alg: 'HS256', kid: "x' UNION SELECT 'key" })],
    ['that is a user id', 'admin'],
    ['that is as long as a header may be', 'x'.repeat(8000)],
  ])('accepts no token %s', async (_what, token) => {
    expect(await statusOf(url, token)).toBe(401)
    expect(await statusOf(url, null, { authorization: `Bearer ${token}` })).toBe(401)
  })

  test("accepts no token's hash, which is what is stored", async () => {
    await bed.login(`hashed at ${url}`, projectId, 'member')
    for (const { id } of bed.view.list('token')) expect(await statusOf(url, id)).toBe(401)
  })
})

test("a service account token's own claims are not trusted: not algorithm, key or audience, only the cluster's review", async () => {
  const asked: string[] = []
  const accounts = new ServiceAccounts({
    review: async (token) => {
      asked.push(token)
      return null
    },
    accounts: [{ account: 'spout/connector', role: 'admin', projectName: 'admin' }],
    agents: 'spout/connector',
    clock: { now: () => new Date(), monotonicMs: () => 0, setTimer: () => ({ clear: () => {} }) },
    log: createLogger({ name: 'test', level: 'silent' }),
  })
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = part({ sub: 'system:serviceaccount:spout:connector', aud: ['spout.dev'], exp: 4_000_000_000 })
  for (const header of [
    { alg: 'none' },
    { alg: 'HS256', kid: '../../dev/null' },
    { alg: 'RS256', jku: 'http://evil' },
  ]) {
    const token = `${part(header)}.${claims}.`
    await expect(accounts.accountOf(token, '192.0.2.1')).rejects.toMatchObject({ code: 'Unauthenticated' })
    await expect(accounts.nodeOf(token, '192.0.2.1')).rejects.toMatchObject({ code: 'Unauthenticated' })
  }
  expect(asked).toHaveLength(6)
})

test('an unknown name costs as much work as a wrong password, and takes a turn like any other', async () => {
  // One or two are hashed, 32 of one user wait, and more are refused, for known and unknown users alike.
  const outcomes = async (name: string) => {
    const tries = Array.from({ length: 36 }, () =>
      bed.authenticator.loginWithPassword({ name }, 'wrong', null, '192.0.2.9').catch((error: Error) => error.message),
    )
    const messages = await Promise.all(tries)
    return messages.filter((message) => String(message).includes('at the same time')).length
  }
  const known = await outcomes('admin')
  expect(known).toBeGreaterThan(0)
  expect(await outcomes('nobody at all')).toBe(known)
}, 60_000)

test('no token, password or secret is logged, at the most verbose level', async () => {
  const { token, userId } = await bed.login('logged', projectId, 'member')
  const made = await bed.ask('POST', `/identity/v3/users/${userId}/application_credentials`, token, {
    application_credential: { name: 'c' },
  })
  const { id, secret } = made.body.application_credential
  await bed.askNative('POST', '/tokens', null, { applicationCredentialId: id, secret })
  await bed.askNative('POST', '/tokens', null, { userName: 'admin', password: ADMIN_PASSWORD })
  await bed.askNative('POST', '/tokens', null, { userName: 'admin', password: 'canary-wrong-password' })
  await bed.ask('GET', `/api/v1/networks?token=${token}`, null)
  await bed.ask('GET', `/api/v1/nothing/${token}`, token)
  await bed.ask('POST', '/api/v1/networks', token, { name: { nested: secret } })
  const text = lines.join('')
  expect(lines.length).toBeGreaterThan(20)
  for (const each of [token, secret, ADMIN_PASSWORD, 'canary-wrong-password']) expect(text).not.toContain(each)
})
