import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort, passwordToken, run } from '@spout/testkit'
import { OpenIdServer } from '@spout/testkit/openid-server'
import { issueCertificate } from '@spout/testkit/tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ControlPlaneProcess, programWith } from './testing/control-plane-process.ts'
import { ADMIN, OidcPage, REDIRECT_URI, settingsFor, withProjects } from './testing/oidc-page.ts'

// Providers that go away, that are elsewhere, behind TLS, or that keep claims to themselves.
const OWN_LOGIN = { userName: ADMIN.user, password: ADMIN.password, projectName: ADMIN.project }

let directory: string
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-oidc-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const file = (name: string, text: string): string => {
  writeFileSync(path.join(directory, name), text)
  return path.join(directory, name)
}

test('while the provider is away the page is told so, others log in as ever, and it works once it is back', async () => {
  await using provider = await OpenIdServer.start({ redirectUri: REDIRECT_URI })
  await using plane = await ControlPlaneProcess.start(settingsFor(provider))
  const page = new OidcPage(plane)
  await withProjects(plane, 'shop')
  provider.people.set('1001', { preferred_username: 'ann', groups: ['shop-devs'] })
  const begun = await page.begin()
  const answer = await page.answerOf(begun, '1001')
  await provider.goAway()
  const away = { status: 503, body: { detail: 'Example SSO is not available: ECONNREFUSED' } }
  expect(await page.finish(begun, answer)).toMatchObject(away)
  await expect.poll(() => page.ask('POST', '/session/oidc'), { timeout: 60_000 }).toMatchObject(away)
  expect((await page.ask('POST', '/session', { body: OWN_LOGIN })).status).toBe(201)
  await provider.comeBack()
  await expect.poll(async () => (await page.ask('POST', '/session/oidc')).status, { timeout: 60_000 }).toBe(201)
  expect((await page.logIn('1001')).status).toBe(201)
  expect([plane.lines('oidc-away').length, plane.lines('oidc-back').length]).toEqual([1, 1])
}, 180_000)

test('a provider that nobody can reach holds up neither the start nor other logins', async () => {
  await using provider = await OpenIdServer.start({ redirectUri: REDIRECT_URI })
  const nowhere = `oidc.issuer=http://127.0.0.1:${await freePort()}`
  await using plane = await ControlPlaneProcess.start([...settingsFor(provider), nowhere])
  const page = new OidcPage(plane)
  expect((await passwordToken(plane.address, ADMIN)).token).not.toBe('')
  expect((await page.ask('GET', '/session/ways')).body).toEqual({ oidc: { name: 'Example SSO' } })
  expect((await page.ask('POST', '/session/oidc')).status).toBe(503)
  expect((await page.ask('POST', '/session', { body: OWN_LOGIN })).status).toBe(201)
}, 120_000)

test('claims may be at the endpoint about users alone, and one group may be a text', async () => {
  await using provider = await OpenIdServer.start({ redirectUri: REDIRECT_URI, claimsInTokens: false })
  await using plane = await ControlPlaneProcess.start(settingsFor(provider))
  await withProjects(plane, 'shop')
  provider.people.set('1', { preferred_username: 'zoë', groups: 'shop-devs' })
  const opened = await new OidcPage(plane).logIn('1')
  expect(opened.body).toMatchObject({ userName: 'oidc:zoë', projectName: 'shop', roles: ['member', 'reader'] })
}, 120_000)

test('its certificate must be of the authorities of oidc.caFile', async () => {
  const authority = issueCertificate({ isAuthority: true })
  const tls = issueCertificate({ names: ['localhost'], issuer: authority })
  await using provider = await OpenIdServer.start({ redirectUri: REDIRECT_URI, host: '::', tls })
  const begin = async (...settings: readonly string[]) => {
    await using plane = await ControlPlaneProcess.start([...settingsFor(provider), ...settings])
    return await new OidcPage(plane).ask('POST', '/session/oidc')
  }
  const trusted = await begin(`oidc.caFile=${file('right.pem', authority.certificate)}`)
  expect(trusted).toMatchObject({ status: 201, body: { url: expect.stringContaining(`${provider.issuer}/auth?`) } })
  const other = issueCertificate({ isAuthority: true }).certificate
  for (const settings of [[], [`oidc.caFile=${file('other.pem', other)}`]])
    expect(await begin(...settings)).toMatchObject({
      status: 503,
      body: { detail: expect.stringMatching(/^Example SSO is not available: .*(UNABLE_TO|SELF_SIGNED)/) },
    })
}, 180_000)

test.each<[string, () => string, RegExp]>([
  ['no URL of its own', () => 'api.publicUrl=', /Field api\.publicUrl: is needed with oidc\.issuer/],
  ['no page', () => 'ui.enabled=false', /Field oidc\.issuer: is for the web page/],
  ['authorities that are not there', () => 'oidc.caFile=/nowhere', /Field oidc\.caFile: cannot be read: ENOENT/],
  ['authorities that are none', () => `oidc.caFile=${file('x.pem', 'x')}`, /Field oidc\.caFile: has no certificate/],
])(
  '%s ends the start with the reason',
  async (_, setting, reason) => {
    await using provider = await OpenIdServer.start({ redirectUri: REDIRECT_URI })
    const settings = [`stateDirectory=${path.join(directory, 'state')}`, ...settingsFor(provider), setting()]
    const { code, stderr } = await run([process.execPath, ...programWith(settings)], { timeoutMs: 60_000 })
    expect([code, stderr]).toEqual([2, expect.stringMatching(reason)])
  },
  120_000,
)
