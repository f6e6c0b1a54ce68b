import { FakeClock } from '@spout/runtime/fake-clock'
import { VERSION } from '@spout/runtime/version'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ForeignTokens } from '../../authn/foreign-session.ts'
import { pageCookie } from '../../authn/page-cookie.ts'
import { type Method, openTestBed, type TestBed } from '../../testing/test-bed.ts'

const HOUR = 3_600_000
const PAGE = { 'sec-fetch-site': 'same-origin' }
const ABSENT = '00000000-0000-4000-8000-000000000000'

let clock: FakeClock
let bed: TestBed
let one: string
let two: string
let foreignId: string
let userId: string

beforeEach(async () => {
  clock = new FakeClock()
  bed = await openTestBed(clock)
  await fill()
})
afterEach(() => bed.close())

/** A user `ann`, member in project `one` and reader in `two`, and a project that she has nothing to do with. */
async function fill(): Promise<void> {
  one = (await bed.admission.createProject({ name: 'one', description: '' })).id
  two = (await bed.admission.createProject({ name: 'two', description: '' })).id
  foreignId = (await bed.admission.createProject({ name: 'foreign', description: '' })).id
  userId = (await bed.login('ann', one, 'member')).userId
  const user = bed.view.get('user', userId)!.value
  await bed.admission.putUser({ ...user, roles: [...user.roles, { projectId: two, role: 'reader' }] })
}

const ask = (method: Method, path: string, cookie: string | null, payload?: unknown, headers: object = PAGE) =>
  bed.askNative(method, path, null, payload, { ...(cookie !== null && { cookie }), ...headers })

const LOGIN = { userName: 'ann', password: 'pw', projectName: 'one' }
const setCookieOf = ({ headers }: { readonly headers: object }): string =>
  String((headers as Record<string, unknown>)['set-cookie'])
const cookieOf = (answer: { readonly headers: object }): string => setCookieOf(answer).split(';', 1)[0]!
const login = async (body: object = LOGIN) => cookieOf(await ask('POST', '/session', null, body))

describe('logging in', () => {
  test('puts the token into a cookie that scripts cannot read, and nowhere else', async () => {
    const opened = await ask('POST', '/session', null, LOGIN)
    expect(opened.status).toBe(201)
    expect(opened.body).toEqual({
      ...{ userId, userName: 'ann', projectId: one, projectName: 'one', roles: ['member', 'reader'] },
      expiresAt: new Date(clock.now().getTime() + 8 * HOUR).toISOString(),
      projects: [
        { id: one, name: 'one', roles: ['member', 'reader'] },
        { id: two, name: 'two', roles: ['reader'] },
      ],
      ...{ version: VERSION, publicUrl: null, keystone: false },
    })
    expect(setCookieOf(opened)).toMatch(
      /^spout-session=[\w-]{43}; Max-Age=28800; Path=\/api\/v1; HttpOnly; SameSite=Strict$/,
    )
    const secret = cookieOf(opened).split('=')[1]!
    expect(JSON.stringify(opened.body)).not.toContain(secret)
    const shown = await ask('GET', '/session', cookieOf(opened))
    expect(shown).toMatchObject({ status: 200, body: opened.body })
  })

  test('over TLS the cookie is one that no other site can set, and the other name counts for nothing', async () => {
    const tls = await openTestBed(clock, undefined, { cookie: pageCookie(true) })
    try {
      const body = { userName: 'admin', password: 'admin-password', projectName: 'admin' }
      const opened = await tls.askNative('POST', '/session', null, body, PAGE)
      expect(setCookieOf(opened)).toMatch(
        /^__Host-spout-session=[\w-]{43}; Max-Age=28800; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
      )
      const cookie = cookieOf(opened)
      const status = async (sent: string) =>
        (await tls.askNative('GET', '/session', null, undefined, { cookie: sent, ...PAGE })).status
      expect(await status(cookie)).toBe(200)
      expect(await status(cookie.replace('__Host-', ''))).toBe(401)
    } finally {
      await tls.close()
    }
  })

  test.each([
    ['a wrong password', { ...LOGIN, password: 'no' }, 401, 'Unauthenticated'],
    ['a project of others', { ...LOGIN, projectName: 'foreign' }, 401, 'Unauthenticated'],
    ['an invented token', { token: 'x'.repeat(43) }, 401, 'Unauthenticated'],
    ['a token that would end the cookie', { token: 'x; Path=/; Domain=example.org' }, 400, 'InvalidField'],
    ['a token that is too long', { token: 'x'.repeat(3801) }, 400, 'InvalidField'],
    ['a body of another kind', { serviceAccountToken: 'x' }, 400, 'InvalidField'],
  ])('with %s gives no cookie', async (_what, body, status, code) => {
    const refused = await ask('POST', '/session', null, body)
    expect([refused.status, refused.body.code]).toEqual([status, expect.any(String)])
    if (status === 401) expect(refused.body.code).toBe(code)
    expect(refused.headers).not.toHaveProperty('set-cookie')
  })

  test('failures count with those of other logins', async () => {
    for (let failed = 0; failed < 5; failed++) {
      await ask('POST', '/session', null, { ...LOGIN, password: 'no' })
      await ask('POST', '/tokens', null, { ...LOGIN, password: 'no' })
    }
    const refused = await ask('POST', '/session', null, LOGIN)
    expect(refused).toMatchObject({ status: 401, body: { detail: expect.stringContaining('too many failed logins') } })
  })

  test('with an application credential is for its project alone', async () => {
    const { token } = await bed.login('owner', one, 'member')
    const owner = bed.authenticator.tokens.session(token).principal.userId
    const made = await bed.ask('POST', `/identity/v3/users/${owner}/application_credentials`, token, {
      application_credential: { name: 'page' },
    })
    const { id, secret } = made.body.application_credential
    const opened = await ask('POST', '/session', null, { applicationCredentialId: id, secret })
    expect(opened.body.projects).toEqual([{ id: one, name: 'one', roles: ['member', 'reader'] }])
    const refused = await ask('PUT', '/session/project', cookieOf(opened), { projectId: two })
    expect(refused).toMatchObject({ status: 403, body: { code: 'Forbidden' } })
    expect((await ask('GET', '/session', cookieOf(opened))).status).toBe(200)
  })

  test('with a token that the user has already makes another one', async () => {
    const { secret } = await bed.authenticator.loginWithPassword({ name: 'ann' }, 'pw', { id: two }, '127.0.0.1')
    const cookie = await login({ token: secret })
    expect(cookie).not.toContain(secret)
    expect((await ask('GET', '/session', cookie)).body).toMatchObject({ userName: 'ann', projectId: two })
    expect((await ask('DELETE', '/session', cookie)).status).toBe(204)
    expect(bed.authenticator.tokens.session(secret).principal.userName).toBe('ann')
  })
})

describe('what proves that our page sent a request', () => {
  test.each<[string, object, number]>([
    ['a browser that says so', { 'sec-fetch-site': 'same-origin' }, 200],
    ['a browser that says nothing, and the header of the page', { 'spout-page': '1' }, 200],
    ['a browser that says nothing', {}, 401],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 401],
    ['another site that sends the header of the page', { 'sec-fetch-site': 'cross-site', 'spout-page': '1' }, 401],
    ['another host of the same site', { 'sec-fetch-site': 'same-site', 'spout-page': '1' }, 401],
    ['an address that was typed', { 'sec-fetch-site': 'none' }, 401],
    ['a header of the page with another value', { 'spout-page': 'true' }, 401],
  ])('%s', async (_who, headers, status) => {
    const cookie = await login()
    expect((await ask('GET', '/session', cookie, undefined, headers)).status).toBe(status)
    const written = await ask('POST', '/networks', cookie, { name: 'n' }, headers)
    expect(written.status).toBe(status === 200 ? 201 : 401)
    const others = bed.view.list('network').length
    expect(others).toBe(status === 200 ? 1 : 0)
    // Nor can another site log a browser in or out.
    const opened = await ask('POST', '/session', null, LOGIN, headers)
    expect(opened.status).toBe(status === 200 ? 201 : 403)
    expect('set-cookie' in opened.headers).toBe(status === 200)
    expect((await ask('DELETE', '/session', cookie, undefined, headers)).status).toBe(status === 200 ? 204 : 401)
  })

  test('no other site is granted the header', async () => {
    const preflight = await bed.app.inject({
      method: 'OPTIONS',
      url: '/api/v1/session',
      headers: {
        origin: 'http://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'spout-page',
      },
    })
    expect(preflight.statusCode).toBe(404)
    expect(Object.keys(preflight.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('a form of another site cannot log in: its body is no JSON', async () => {
    const posted = await bed.app.inject({
      method: 'POST',
      url: '/api/v1/session',
      headers: { 'content-type': 'text/plain', ...PAGE },
      payload: JSON.stringify(LOGIN),
    })
    expect(posted.statusCode).toBe(400)
    expect(posted.headers).not.toHaveProperty('set-cookie')
  })
})

describe('which token counts', () => {
  test('one in a header goes before the cookie, even if it is not valid', async () => {
    const cookie = await login()
    const other = await bed.login('bob', two, 'reader')
    const headers = { ...PAGE, authorization: `Bearer ${other.token}` }
    expect((await ask('GET', '/session', cookie, undefined, headers)).body.userName).toBe('bob')
    const invented = await ask('GET', '/session', cookie, undefined, { ...PAGE, 'x-auth-token': 'invented' })
    expect(invented).toMatchObject({ status: 401, body: { code: 'Unauthenticated' } })
  })

  test.each([
    ['two cookies of that name', (cookie: string) => `${cookie}; spout-session=${'x'.repeat(43)}`],
    ['the same cookie twice', (cookie: string) => `${cookie}; ${cookie}`],
    ['a cookie that is longer than any token', (cookie: string) => `${cookie}${'x'.repeat(300)}`],
    ['a cookie that is longer than any cookie', (cookie: string) => `${cookie}${'x'.repeat(5000)}`],
    ['an empty cookie', () => 'spout-session='],
    ['a quoted cookie', (cookie: string) => cookie.replace('=', '="').concat('"')],
    ['a name in other letters', (cookie: string) => cookie.replace('spout-session', 'SPOUT-SESSION')],
    ['a name that ends alike', (cookie: string) => `x-${cookie}`],
    ['the TLS name', (cookie: string) => `__Host-${cookie}`],
    ['no cookie', () => 'theme=dark'],
  ])('%s: none', async (_what, hostile) => {
    const refused = await ask('GET', '/session', hostile(await login()))
    expect(refused).toMatchObject({ status: 401, body: { code: 'SessionEnded' } })
  })

  test('other cookies do not matter', async () => {
    expect((await ask('GET', '/session', `theme=dark; ${await login()}; x=y=z;; `)).status).toBe(200)
  })

  test.each([
    ['GET', '/identity/v3/auth/projects'],
    ['GET', '/network/v2.0/networks'],
    ['GET', '/key-manager/v1/secrets'],
  ] as const)('the cookie is nothing to another surface: %s %s', async (method, url) => {
    const headers = { cookie: await login(), ...PAGE, 'spout-page': '1' }
    expect((await bed.ask(method, url, null, undefined, headers)).status).toBe(401)
  })
})

describe('the end of a session', () => {
  const ended = { status: 401, body: { code: 'SessionEnded' } }

  test('logging out ends the token, not just the cookie', async () => {
    const cookie = await login()
    const left = await ask('DELETE', '/session', cookie)
    expect(left).toMatchObject({ status: 204, body: null })
    expect(setCookieOf(left)).toBe('spout-session=; Max-Age=0; Path=/api/v1; HttpOnly; SameSite=Strict')
    expect(await ask('GET', '/session', cookie)).toMatchObject(ended)
    const asToken = await bed.askNative('GET', '/session', cookie.split('=')[1]!)
    expect(asToken).toMatchObject({ status: 401, body: { code: 'Unauthenticated' } })
  })

  test('its time, before and after it is swept', async () => {
    const cookie = await login()
    clock.jump(8 * HOUR)
    expect(await ask('GET', '/session', cookie)).toMatchObject(ended)
    await bed.authenticator.tokens.sweep()
    expect(await ask('GET', '/session', cookie)).toMatchObject(ended)
    expect(await ask('GET', '/session', null)).toMatchObject(ended)
  })

  test('a new password of its user', async () => {
    const cookie = await login()
    await bed.authenticator.tokens.revokeUser(userId)
    expect(await ask('GET', '/networks', cookie)).toMatchObject(ended)
  })

  test('a role that is lowered lowers it at once, and one that is taken away ends it', async () => {
    const cookie = await login()
    expect((await ask('POST', '/networks', cookie, { name: 'n' })).status).toBe(201)
    const user = bed.view.get('user', userId)!.value
    await bed.admission.putUser({ ...user, roles: [{ projectId: one, role: 'reader' }] })
    expect((await ask('GET', '/session', cookie)).body).toMatchObject({
      roles: ['reader'],
      projects: [{ id: one, roles: ['reader'] }],
    })
    expect(await ask('POST', '/networks', cookie, { name: 'm' })).toMatchObject({ status: 403 })
    await bed.admission.putUser({ ...user, roles: [] })
    expect(await ask('GET', '/session', cookie)).toMatchObject(ended)
  })

  test('a login ends the session that the browser had before: nobody can plant one and go on using it', async () => {
    const planted = await login()
    const opened = await ask('POST', '/session', planted, LOGIN)
    expect(cookieOf(opened)).not.toBe(planted)
    expect(await ask('GET', '/session', planted)).toMatchObject(ended)
    expect((await ask('GET', '/session', cookieOf(opened))).status).toBe(200)
  })

  test('a refused login leaves it as it is', async () => {
    const cookie = await login()
    expect((await ask('POST', '/session', cookie, { ...LOGIN, password: 'no' })).status).toBe(401)
    expect((await ask('GET', '/session', cookie)).status).toBe(200)
  })
})

describe('another project', () => {
  test('gets another token, which ends no later, and the former one ends', async () => {
    const cookie = await login()
    clock.jump(HOUR)
    const switched = await ask('PUT', '/session/project', cookie, { projectId: two })
    expect(switched).toMatchObject({ status: 200, body: { projectId: two, projectName: 'two', roles: ['reader'] } })
    expect(setCookieOf(switched)).toContain('Max-Age=25200;')
    expect(await ask('GET', '/session', cookie)).toMatchObject({ status: 401, body: { code: 'SessionEnded' } })
    const now = cookieOf(switched)
    expect((await ask('GET', '/session', now)).body).toEqual(switched.body)
    expect((await ask('POST', '/networks', now, { name: 'n' })).status).toBe(403)
    expect((await ask('PUT', '/session/project', now, { projectId: one })).body.roles).toEqual(['member', 'reader'])
  })

  test('is chosen later by whoever logs in without one', async () => {
    const cookie = await login({ userName: 'ann', password: 'pw' })
    const { body } = await ask('GET', '/session', cookie)
    expect(body).toMatchObject({ projectId: null, projectName: null, roles: [] })
    expect(body.projects.map(({ name }: { name: string }) => name)).toEqual(['one', 'two'])
    expect((await ask('GET', '/networks', cookie)).status).toBe(403)
    const chosen = cookieOf(await ask('PUT', '/session/project', cookie, { projectId: one }))
    expect((await ask('GET', '/networks', chosen)).status).toBe(200)
  })

  test('of others does not exist, nor does one that is disabled; the session stays', async () => {
    const cookie = await login()
    await bed.admission.changeProject(two, { enabled: false })
    for (const projectId of [foreignId, ABSENT, two]) {
      const refused = await ask('PUT', '/session/project', cookie, { projectId })
      expect(refused).toMatchObject({ status: 404, body: { detail: `Project ${projectId} not found` } })
      expect(refused.headers).not.toHaveProperty('set-cookie')
    }
    const shown = await ask('GET', '/session', cookie)
    expect(shown).toMatchObject({ status: 200, body: { projectId: one, projects: [{ id: one }] } })
  })

  test('is refused to a balancer, and to a token in a header', async () => {
    const { userId: id, token } = await bed.login('connector', one, 'balancer')
    const user = bed.view.get('user', id)!.value
    await bed.admission.putUser({ ...user, roles: [...user.roles, { projectId: two, role: 'member' }] })
    const cookie = await login({ token })
    expect((await ask('GET', '/session', cookie)).body.projects).toHaveLength(1)
    expect((await ask('PUT', '/session/project', cookie, { projectId: two })).status).toBe(403)
    const byHeader = await bed.askNative('PUT', '/session/project', await bed.adminLogin(), { projectId: two }, PAGE)
    expect(byHeader.status).toBe(403)
  })
})

test('the audit log says that a session did it, and how it was opened', async () => {
  const cookie = await login()
  await ask('POST', '/networks', cookie, { name: 'n' })
  await ask('PUT', '/session/project', cookie, { projectId: two })
  const { body } = await bed.askNative('GET', '/audit?limit=3', await bed.adminLogin())
  const records = body.items.map(({ operation, method, userName, status }: Record<string, unknown>) => [
    ...[operation, method, userName, status],
  ])
  expect(records).toEqual([
    ['PUT /api/v1/session/project', 'session', 'ann', 200],
    ['POST /api/v1/networks', 'session', 'ann', 201],
    ['POST /api/v1/session', 'password', 'ann', 201],
  ])
  expect(JSON.stringify(body)).not.toContain(cookie.split('=')[1])
})

describe('a watch by a session', () => {
  test('ends with it', async () => {
    const cookie = await login()
    const watch = await bed.app.inject({
      url: '/api/v1/networks?watch=1',
      headers: { cookie, ...PAGE },
      payloadAsStream: true,
    })
    expect(watch.statusCode).toBe(200)
    const lines = watch.stream()
    const text = new Promise<string>((resolve) => {
      let all = ''
      lines.on('data', (data: Buffer) => {
        all += data
      })
      lines.on('end', () => resolve(all))
    })
    expect((await ask('DELETE', '/session', cookie)).status).toBe(204)
    expect(await text).toContain('"code":"SessionEnded"')
  })
})

test('events by a session are told until it switches to another project', async () => {
  const url = await bed.app.listen({ host: '127.0.0.1', port: 0 })
  const cookie = await login()
  const answer = await fetch(`${url}/api/v1/events?topics=objects`, { headers: { cookie, 'spout-page': '1' } })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining('event-stream')])
  const told = answer.text()
  expect((await ask('PUT', '/session/project', cookie, { projectId: two })).status).toBe(200)
  expect(await told).toMatch(/event: end\ndata: .*"code":"SessionEnded"/)
})

describe("a token of somebody else's identity service", () => {
  const TOKEN = 'gAAAAABm.keystone_token-='

  const keystone = (): ForeignTokens => ({
    isKnown: () => false,
    open: async (secret) => {
      const principal = {
        ...{ userId: ABSENT, userName: 'kim@Default', projectId: one },
        ...{ roles: ['reader'] as const, expiresAt: new Date(clock.now().getTime() + HOUR).toISOString() },
      }
      const token = {
        ...{ id: secret, name: 'password', description: '', createdAt: principal.expiresAt, updatedAt: null },
        ...{ userId: ABSENT, projectId: one, roles: [...principal.roles], expiresAt: principal.expiresAt },
      }
      return { current: () => ({ principal, token }), renew: async () => {}, renewEveryMs: 1000 }
    },
  })

  test('opens a session, stays in its project, and is not revoked here', async () => {
    await bed.close()
    bed = await openTestBed(clock, undefined, { foreign: keystone() })
    await fill()
    const opened = await ask('POST', '/session', null, { token: TOKEN })
    expect(opened).toMatchObject({ status: 201, body: { userName: 'kim@Default', keystone: true } })
    expect(opened.body.projects).toEqual([{ id: one, name: 'one', roles: ['reader'] }])
    const cookie = cookieOf(opened)
    expect(cookie).toBe(`spout-session=${TOKEN}`)
    expect((await ask('GET', '/networks', cookie)).status).toBe(200)
    expect((await ask('PUT', '/session/project', cookie, { projectId: two })).status).toBe(403)
    const left = await ask('DELETE', '/session', cookie)
    expect(left.status).toBe(204)
    expect(setCookieOf(left)).toContain('Max-Age=0')
  })
})
