import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { call, Endpoints } from '@spout/client'
import { systemClock } from '@spout/runtime'
import { ConfigError } from '@spout/runtime/config'
import { FakeClock } from '@spout/runtime/fake-clock'
import { VERSION } from '@spout/runtime/version'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../../../server/src/testing/test-bed.ts'
import { type CredentialSettings, sessionsOf } from './sessions.ts'

let bed: TestBed
let endpoint: string
let directory: string
beforeAll(async () => {
  bed = await openTestBed()
  endpoint = await bed.app.listen({ host: '127.0.0.1', port: 0 })
  directory = mkdtempSync(path.join(tmpdir(), 'spout-session-'))
})
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true })
  await bed.close()
})

const NONE: CredentialSettings = {
  tokenFile: '',
  applicationCredentialId: '',
  applicationCredentialSecretFile: '',
  serviceAccountTokenFile: '',
}
const source = (credential: Partial<CredentialSettings>, clock = systemClock) =>
  sessionsOf(new Endpoints([endpoint]), { ...NONE, ...credential }, 'spout', clock)

test('a token file is read again when it changes, checked once a second, and at once when its token is refused', async () => {
  const file = path.join(directory, 'token')
  writeFileSync(file, 'one\n')
  const clock = new FakeClock()
  const sessions = source({ tokenFile: file }, clock)
  expect(await sessions.session()).toMatchObject({ endpoints: { urls: [endpoint] }, token: 'one' })
  writeFileSync(file, 'two\n')
  utimesSync(file, new Date(), new Date(Date.now() + 5000))
  expect((await sessions.session()).token).toBe('one')
  await clock.advance(1000)
  expect((await sessions.session()).token).toBe('two')
  writeFileSync(file, 'three\n')
  sessions.forget()
  expect((await sessions.session()).token).toBe('three')
})

test('an administrator sees which version of a connector calls', async () => {
  const project = await bed.admission.createProject({ name: 'cluster', description: '' })
  const { token } = await bed.login('cluster-connector', project.id, 'balancer')
  const file = path.join(directory, 'version-token')
  writeFileSync(file, token)
  await call(await source({ tokenFile: file }).session(), 'GET', '/networks')
  const { body } = await bed.askNative('GET', '/control-plane', await bed.adminLogin())
  expect(body).toMatchObject({
    ...{ version: VERSION, leads: true, store: null },
    connectors: [{ userName: 'cluster-connector', projectId: project.id, version: VERSION }],
  })
})

test('an application credential gets tokens of its role and renews them before they end', async () => {
  const project = await bed.admission.createProject({ name: 'tenant', description: '' })
  const owner = await bed.login('owner', project.id, 'member')
  const made = await bed.app.inject({
    method: 'POST',
    url: `/identity/v3/users/${owner.userId}/application_credentials`,
    headers: { 'x-auth-token': owner.token },
    payload: { application_credential: { name: 'cluster', roles: [{ name: 'balancer' }] } },
  })
  const { id, secret } = (made.json() as { application_credential: { id: string; secret: string } })
    .application_credential
  const secretFile = path.join(directory, 'secret')
  writeFileSync(secretFile, secret, { mode: 0o600 })
  const clock = new FakeClock(new Date())
  const sessions = source({ applicationCredentialId: id, applicationCredentialSecretFile: secretFile }, clock)
  const [first, same] = await Promise.all([sessions.session(), sessions.session()])
  expect(first.token).toBe(same.token)
  const { roles, expiresAt } = await call<{ roles: string[]; expiresAt: string }>(first, 'GET', '/tokens/current')
  expect(roles).toEqual(['balancer'])
  expect((await sessions.session()).token).toBe(first.token)
  clock.jump((Date.parse(expiresAt) - clock.now().getTime()) * 0.9)
  const later = await sessions.session()
  expect(later.token).not.toBe(first.token)
  sessions.forget()
  expect((await sessions.session()).token).not.toBe(later.token)
})

test.each([
  ['nothing', {}, 'spout.tokenFile'],
  ['both', { tokenFile: '/t', applicationCredentialId: 'x' }, 'cannot be combined with'],
  ['no secret', { applicationCredentialId: 'x' }, 'applicationCredentialSecretFile'],
])('refused: %s', (_, spout, told) => {
  expect(() => source(spout)).toThrow(ConfigError)
  expect(() => source(spout)).toThrow(told)
})
