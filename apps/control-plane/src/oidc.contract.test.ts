import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { callApi } from '@spout/testkit'
import { type Forgery, newSigningKey, OpenIdServer } from '@spout/testkit/openid-server'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ControlPlaneProcess } from './testing/control-plane-process.ts'
import {
  FROM_PAGE,
  LOGIN_COOKIE,
  OidcPage,
  REDIRECT_URI,
  sessionIn,
  settingsFor,
  withProjects,
} from './testing/oidc-page.ts'

// The control plane as its process serves it, and a real provider (oidc-provider).
let provider: OpenIdServer
let controlPlane: ControlPlaneProcess
let page: OidcPage
let adminToken: string
let projects: Readonly<Record<string, string>>

const audit = async (limit: number): Promise<readonly object[]> =>
  (await callApi<{ items: object[] }>(controlPlane.address, adminToken, 'GET', `/audit?limit=${limit}`)).items
const identity = (method: string, where: string, token: string, body: object) =>
  fetch(`${controlPlane.address}/identity/v3${where}`, {
    method,
    headers: { 'content-type': 'application/json', 'x-auth-token': token },
    body: JSON.stringify(body),
  })

beforeAll(async () => {
  provider = await OpenIdServer.start({ redirectUri: REDIRECT_URI })
  controlPlane = await ControlPlaneProcess.start(settingsFor(provider))
  page = new OidcPage(controlPlane)
  ;({ adminToken, projects } = await withProjects(controlPlane, 'shop', 'bank'))
}, 120_000)
afterAll(async () => {
  await controlPlane?.[Symbol.asyncDispose]()
  await provider?.[Symbol.asyncDispose]()
})
beforeEach(() => {
  provider.forgery = null
  provider.people.clear()
  provider.people.set('1001', { preferred_username: 'ann', groups: ['shop-devs', 'choir'] })
  provider.people.set('1002', { preferred_username: 'bob', groups: ['auditors'] })
  provider.people.set('1003', { preferred_username: 'eve', groups: ['choir', 'lost'] })
})

describe('somebody whom the provider knows', () => {
  test('has the roles that the groups are granted, in a session of the page', async () => {
    const opened = await page.logIn('1001')
    expect(opened).toMatchObject({
      status: 201,
      body: { userName: 'oidc:ann', projectName: 'shop', roles: ['member', 'reader'], projects: [{ name: 'shop' }] },
      kept: { [LOGIN_COOKIE]: '' },
    })
    const cookie = sessionIn(opened)
    expect((await page.ask('GET', '/session', { cookie })).body).toEqual(opened.body)
    expect((await page.ask('POST', '/networks', { cookie, body: { name: 'of ann' } })).status).toBe(201)
    expect((await page.ask('GET', '/nodes', { cookie })).status).toBe(403)
    const [made, login, before] = await audit(3)
    expect([made, login]).toMatchObject([
      { operation: 'POST /api/v1/networks', userName: 'oidc:ann', method: 'session', projectId: projects['shop'] },
      { operation: 'POST /api/v1/session', userName: 'oidc:ann', method: 'oidc', projectId: projects['shop'] },
    ])
    // Whoever begins a login has done nothing yet.
    expect(before).toMatchObject({ operation: expect.not.stringContaining('/session/oidc') })
  })

  test('is the same user at each login, whatever the name is by then', async () => {
    const first = await page.logIn('1001')
    provider.people.set('1001', { preferred_username: 'ann.married', groups: ['shop-devs'] })
    const second = await page.logIn('1001')
    expect(second.body).toMatchObject({ userId: first.body.userId, userName: 'oidc:ann.married' })
    provider.people.set('1004', { preferred_username: 'ann.married', groups: ['shop-devs'] })
    const { userId, userName } = (await page.logIn('1004')).body
    expect(userId).not.toBe(first.body.userId)
    expect(userName).toBe(`oidc:ann.married (${userId.slice(0, 8)})`)
  })

  test('with several projects chooses one, and another, and the session ends no later', async () => {
    const opened = await page.logIn('1002')
    expect(opened.body).toMatchObject({ projectId: null, projects: [{ name: 'bank' }, { name: 'shop' }] })
    const change = (cookie: string, name: string) =>
      page.ask('PUT', '/session/project', { cookie, body: { projectId: projects[name] } })
    const bank = await change(sessionIn(opened), 'bank')
    const shop = await change(sessionIn(bank), 'shop')
    for (const { body } of [bank, shop])
      expect(body).toMatchObject({ roles: ['reader'], expiresAt: opened.body.expiresAt })
    const made = await page.ask('POST', '/networks', { cookie: sessionIn(shop), body: { name: 'n' } })
    expect(made.status).toBe(403)
  })

  test('without a group that has a role is told which claim was looked at', async () => {
    const refused = await page.logIn('1003')
    expect(refused).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('none of your groups in the claim groups of Example SSO has a role') },
    })
    expect(refused.kept).toEqual({ [LOGIN_COOKIE]: '' })
    provider.people.set('1003', { preferred_username: 'eve' })
    expect(await page.logIn('1003')).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('Example SSO names no groups of yours in the claim groups') },
    })
    expect(await audit(1)).toMatchObject([{ userName: 'oidc:eve', method: 'oidc', status: 403 }])
  })

  test('has nothing any more once taken out of the group, and earlier sessions end with the next login', async () => {
    const cookie = sessionIn(await page.logIn('1001'))
    provider.people.set('1001', { preferred_username: 'ann', groups: ['choir'] })
    expect((await page.ask('GET', '/session', { cookie })).status).toBe(200)
    expect((await page.logIn('1001')).status).toBe(403)
    const ended = { status: 401, body: { code: 'SessionEnded' } }
    expect(await page.ask('GET', '/session', { cookie })).toMatchObject(ended)
    provider.people.set('1001', { preferred_username: 'ann', groups: ['auditors'] })
    expect((await page.logIn('1001')).body.projects).toMatchObject([{ roles: ['reader'] }, { roles: ['reader'] }])
  })

  test('does not get in when disabled here', async () => {
    const { userId } = (await page.logIn('1001')).body
    const disable = (enabled: boolean) =>
      identity('PATCH', `/users/${userId}`, adminToken, { user: { enabled: !enabled } })
    expect((await disable(true)).status).toBe(200)
    const refused = await page.logIn('1001')
    expect(refused).toMatchObject({ status: 403, body: { detail: expect.stringContaining('is disabled here') } })
    expect((await disable(false)).status).toBe(200)
    expect((await page.logIn('1001')).status).toBe(201)
  })

  test('makes no credential, which would outlive what the provider says', async () => {
    const opened = await page.logIn('1001')
    const [, token = ''] = sessionIn(opened).split('=')
    const where = `/users/${opened.body.userId}/application_credentials`
    const made = await identity('POST', where, token, { application_credential: { name: 'for later' } })
    expect([made.status, await made.text()]).toEqual([403, expect.stringContaining('OpenID Connect')])
  })
})

describe('an answer that is not for this browser and this login', () => {
  const notBegun = { status: 401, body: { detail: expect.stringContaining('has not begun this login') } }

  test('counts for nobody: neither without what the browser kept, nor with that of another login', async () => {
    const [own, other] = [await page.begin(), await page.begin()]
    const answer = await page.answerOf(own, '1001')
    for (const cookie of ['', other.cookie, `${LOGIN_COOKIE}=x`, `${own.cookie}; ${own.cookie}`])
      expect(await page.finish({ cookie }, answer)).toMatchObject(notBegun)
    expect(await page.finish(own, { ...answer, state: 'x'.repeat(43) })).toMatchObject(notBegun)
    // The provider was not asked, so the code is still good.
    expect((await page.finish(own, answer)).status).toBe(201)
  })

  test('counts once', async () => {
    const begun = await page.begin()
    const answer = await page.answerOf(begun, '1001')
    expect((await page.finish(begun, answer)).status).toBe(201)
    expect(await page.finish(begun, answer)).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining('used up or too old') },
    })
  })

  test('is refused when it is of another provider, or has the code of another login', async () => {
    const [one, two] = [await page.begin(), await page.begin()]
    const [answer, other] = [await page.answerOf(one, '1001'), await page.answerOf(two, '1002')]
    expect((await page.finish(one, { ...answer, iss: 'https://evil.example' })).status).toBe(401)
    expect((await page.finish(one, { ...answer, code: other['code'] })).status).toBe(401)
  })

  test('is taken from the page alone, and so a login is begun', async () => {
    const begun = await page.begin()
    const answer = await page.answerOf(begun, '1001')
    for (const site of ['cross-site', 'same-site', 'none']) {
      const headers = { ...FROM_PAGE, 'sec-fetch-site': site }
      const [begin, finish] = [
        await page.ask('POST', '/session/oidc', { headers }),
        await page.ask('POST', '/session', { headers, cookie: begun.cookie, body: answer }),
      ]
      expect([begin.status, finish.status, begin.kept, finish.kept]).toEqual([403, 403, {}, {}])
    }
  })
})

test('the provider sends browsers back to the configured URL, whatever host a request names', async () => {
  const headers = { ...FROM_PAGE, 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' }
  const answer = await fetch(`${controlPlane.address}/api/v1/session/oidc`, { method: 'POST', headers })
  const { searchParams } = new URL(((await answer.json()) as { url: string }).url)
  expect(searchParams.get('redirect_uri')).toBe(REDIRECT_URI)
  expect(searchParams.get('code_challenge_method')).toBe('S256')
  expect(answer.headers.get('set-cookie')).toMatch(
    /^__Host-spout-login=[\w-]{43}(\.[\w-]{43}){2}; Max-Age=600; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
  )
})

test('strangers are told which ways there are, and nothing else', async () => {
  expect((await page.ask('GET', '/session/ways')).body).toEqual({ oidc: { name: 'Example SSO' } })
})

describe('an ID token', () => {
  const now = () => Math.floor(Date.now() / 1000)

  test.each<[string, () => Forgery]>([
    ['for another login', () => ({ claims: { nonce: 'x'.repeat(43) } })],
    ['for no login', () => ({ claims: { nonce: undefined } })],
    ['for another client', () => ({ claims: { aud: 'another' } })],
    ['that another client asked for', () => ({ claims: { aud: ['spout', 'another'], azp: 'another' } })],
    ['of another provider', () => ({ claims: { iss: 'https://evil.example' } })],
    ['that has expired', () => ({ claims: { iat: now() - 7200, exp: now() - 3600 } })],
    ['that nobody has signed', () => ({ key: null })],
    ['that somebody else has signed', () => ({ key: newSigningKey() })],
    ['of nobody', () => ({ claims: { sub: undefined } })],
    ['of somebody without a name', () => ({ claims: { preferred_username: '\u0000\n' } })],
  ])('%s opens no session', async (_, forgery) => {
    provider.forgery = forgery()
    const refused = await page.logIn('1001')
    expect(refused).toMatchObject({ status: 401, body: { code: 'Unauthenticated' } })
    expect(refused.kept).toEqual({ [LOGIN_COOKIE]: '' })
    // Written anew in the same way, but right, it does.
    provider.forgery = {}
    expect((await page.logIn('1001')).status).toBe(201)
  })
})

test('neither log nor audit log has a code, a token or a secret', async () => {
  await page.logIn('1001')
  // Reading it writes what waits.
  await audit(1)
  const directory = path.join(controlPlane.stateDirectory, 'audit')
  const written = readdirSync(directory).map((file) => readFileSync(path.join(directory, file), 'utf8'))
  const text = [controlPlane.log, ...written].join('\n')
  expect(text).toContain('oidc:ann')
  expect(page.secrets.size).toBeGreaterThan(20)
  for (const secret of [...page.secrets, provider.clientSecret]) expect(text).not.toContain(secret)
})
