import { Secret } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ADMIN_PASSWORD, openTestBed, type TestBed } from '../testing/test-bed.ts'
import { bootstrap } from './bootstrap.ts'

const HOUR = 3_600_000
const FROM = '192.0.2.7'
let clock: FakeClock
let bed: TestBed

beforeEach(async () => {
  clock = new FakeClock()
  bed = await openTestBed(clock)
})
afterEach(() => bed.close())

const admin = () => bed.authenticator.loginWithPassword({ name: 'admin' }, ADMIN_PASSWORD, { name: 'admin' }, FROM)
const code = (call: () => unknown): unknown => {
  try {
    call()
  } catch (error) {
    return (error as { code?: unknown }).code
  }
  return 'accepted'
}

describe('tokens', () => {
  test('end after eight hours and are then swept', async () => {
    const { secret } = await admin()
    clock.jump(8 * HOUR - 1)
    expect(code(() => bed.authenticator.tokens.session(secret))).toBe('accepted')
    clock.jump(1)
    expect(code(() => bed.authenticator.tokens.session(secret))).toBe('TokenExpired')
    await bed.authenticator.tokens.sweep()
    expect(bed.view.list('token')).toEqual([])
    expect(code(() => bed.authenticator.tokens.session(secret))).toBe('Unauthenticated')
  })

  test('the store holds no secret', async () => {
    const { secret } = await admin()
    const stored = JSON.stringify([await bed.store.list('token'), await bed.store.list('user')])
    expect(stored).not.toContain(secret)
    expect(stored).not.toContain(ADMIN_PASSWORD)
  })

  test.each([
    ['the user is disabled', async (id: string) => disable(id)],
    ['the role is taken away', async (id: string) => takeRoles(id)],
    ['the user is deleted', async (id: string) => bed.admission.deleteUser(id)],
    ['the password changed', async (id: string) => bed.authenticator.tokens.revokeUser(id)],
  ])('are invalid once %s', async (_what, change) => {
    const { projectId } = bed.admin
    const { userId, token } = await bed.login('ann', projectId, 'member')
    expect(bed.authenticator.tokens.session(token).principal).toMatchObject({ roles: ['member', 'reader'], projectId })
    await change(userId)
    expect(code(() => bed.authenticator.tokens.session(token))).toBe('Unauthenticated')
  })

  test('exchanged for another scope they end no later', async () => {
    const first = await admin()
    clock.jump(HOUR)
    const second = await bed.authenticator.loginWithToken(first.secret, { name: 'admin' })
    expect(second.token.expiresAt).toBe(first.token.expiresAt)
    const unscoped = await bed.authenticator.loginWithToken(first.secret, null)
    expect(unscoped.principal).toMatchObject({ projectId: null, roles: [] })
  })
})

const userOf = (id: string) => {
  const user = bed.view.get('user', id)?.value
  if (user === undefined) throw new Error('no such user')
  return user
}
const disable = (id: string) => bed.admission.putUser({ ...userOf(id), enabled: false })
const takeRoles = (id: string) => bed.admission.putUser({ ...userOf(id), roles: [] })

describe('logins', () => {
  test('every refusal reads alike', async () => {
    const { login } = bed
    await login('plain', bed.admin.projectId, 'reader')
    const disabled = await login('disabled', bed.admin.projectId, 'reader')
    await disable(disabled.userId)
    const tries = [
      bed.authenticator.loginWithPassword({ name: 'nobody' }, 'pw', null, FROM),
      bed.authenticator.loginWithPassword({ name: 'plain' }, 'wrong', null, FROM),
      bed.authenticator.loginWithPassword({ name: 'disabled' }, 'pw', null, FROM),
      bed.authenticator.loginWithPassword({ name: 'plain' }, 'pw', { name: 'nowhere' }, FROM),
      bed.authenticator.loginWithCredential({ id: 'none' }, 'pw', FROM),
    ]
    const results = await Promise.allSettled(tries)
    const messages = results.map((result) => (result.status === 'rejected' ? result.reason.message : 'accepted'))
    expect(new Set(messages).size).toBe(1)
    expect(messages[0]).toMatch(/^Authentication is required/)
  })

  test('ten failures refuse logins for a minute, even with the right password', async () => {
    for (let time = 0; time < 10; time++)
      await expect(bed.authenticator.loginWithPassword({ name: 'admin' }, 'x', null, FROM)).rejects.toThrow()
    await expect(admin()).rejects.toThrow('too many failed logins')
    await clock.advance(60_000)
    await expect(admin()).resolves.toMatchObject({ principal: { userName: 'admin' } })
  })
})

describe('bounds', () => {
  test('a hundred wrong passwords from a shared address refuse no user with the right one', async () => {
    for (let at = 0; at < 100; at++) {
      const turn = bed.authenticator.loginWithPassword({ name: `user${at % 25}` }, 'wrong', null, FROM)
      await expect(turn).rejects.toThrow('not valid')
    }
    const right = admin()
    await clock.advance(500)
    expect((await right).principal.userName).toBe('admin')
  }, 60_000)

  test("one more token deletes the user's oldest by password, and none of credentials or other users", async () => {
    await bed.close()
    bed = await openTestBed(clock, undefined, { tokenBounds: { perGrant: 3 } })
    const owner = await bed.login('owner', bed.admin.projectId, 'member')
    const made = await bed.ask('POST', `/identity/v3/users/${owner.userId}/application_credentials`, owner.token, {
      application_credential: { name: 'cluster' },
    })
    const { id, secret } = made.body.application_credential
    const byCredential = (await bed.authenticator.loginWithCredential({ id }, secret, FROM)).secret
    const other = await bed.adminLogin()
    const later: string[] = []
    for (let time = 0; time < 3; time++)
      later.push((await bed.authenticator.loginWithPassword({ name: 'owner' }, 'pw', null, FROM)).secret)
    expect(code(() => bed.authenticator.tokens.session(owner.token))).toBe('Unauthenticated')
    for (const token of [...later, byCredential, other])
      expect(code(() => bed.authenticator.tokens.session(token))).toBe('accepted')
    const traded = await bed.authenticator.loginWithToken(later[2] ?? '', null)
    expect(code(() => bed.authenticator.tokens.session(traded.secret))).toBe('accepted')
    expect(code(() => bed.authenticator.tokens.session(later[0] ?? ''))).toBe('Unauthenticated')
    expect(bed.view.list('token').filter(({ userId }) => userId === owner.userId)).toHaveLength(4)
  })

  test('a user has so many tokens in all, and a credential that takes many ends its own', async () => {
    await bed.close()
    bed = await openTestBed(clock, undefined, { tokenBounds: { perGrant: 4, perUser: 5 } })
    const owner = await bed.login('owner', bed.admin.projectId, 'member')
    const other = await bed.adminLogin()
    const credential = async (name: string) => {
      const path = `/identity/v3/users/${owner.userId}/application_credentials`
      const { body } = await bed.ask('POST', path, owner.token, { application_credential: { name } })
      const { id, secret } = body.application_credential
      return async () => (await bed.authenticator.loginWithCredential({ id }, secret, FROM)).secret
    }
    const [calm, busy, busier] = [await credential('calm'), await credential('busy'), await credential('busier')]
    const calmToken = await calm()
    const busyTokens = [await busy(), await busy(), await busy()]
    const busierTokens = [await busier(), await busier()]
    const ended = (tokens: readonly string[]) =>
      tokens.map((token) => code(() => bed.authenticator.tokens.session(token)) !== 'accepted')
    expect(ended([...busyTokens, ...busierTokens])).toEqual([true, true, false, false, false])
    for (let time = 0; time < 10; time++) busierTokens.push(await busier())
    expect(ended(busierTokens.slice(-2))).toEqual([false, false])
    expect(ended([owner.token, calmToken, other])).toEqual([false, false, false])
    expect(bed.view.list('token').filter(({ userId }) => userId === owner.userId)).toHaveLength(5)
  })

  test('application credentials per user are limited, also when created concurrently', async () => {
    await bed.close()
    bed = await openTestBed(clock, undefined, { credentialsPerUser: 2 })
    const owner = await bed.login('owner', bed.admin.projectId, 'member')
    const path = `/identity/v3/users/${owner.userId}/application_credentials`
    const make = (name: string) => bed.ask('POST', path, owner.token, { application_credential: { name } })
    const made = await Promise.all(['a', 'b', 'c', 'd'].map(make))
    expect(made.map(({ status }) => status).toSorted()).toEqual([201, 201, 403, 403])
    const refused = made.find(({ status }) => status === 403)
    expect(refused?.body.error.message).toBe('Quota for application_credentials is 2, 2 in use, 1 more wanted')
    const kept = made.find(({ status }) => status === 201)
    const { id } = kept?.body.application_credential ?? {}
    expect((await bed.ask('DELETE', `${path}/${id}`, owner.token)).status).toBe(204)
    expect((await make('e')).status).toBe(201)
  })
})

describe('bootstrap', () => {
  const again = (password: string) =>
    bootstrap(
      { admission: bed.admission, view: bed.view, passwords: bed.authenticator.passwords, clock },
      { projectName: 'admin', userName: 'admin', password: new Secret(password) },
    )

  test('a second time changes nothing', async () => {
    const before = await bed.store.revision()
    expect(await again(ADMIN_PASSWORD)).toEqual(bed.admin)
    expect(await bed.store.revision()).toBe(before)
  })

  test('the configured password wins', async () => {
    await again('another-password')
    await expect(admin()).rejects.toThrow()
    const login = bed.authenticator.loginWithPassword({ name: 'admin' }, 'another-password', { name: 'admin' }, FROM)
    await expect(login).resolves.toMatchObject({ principal: { roles: ['admin', 'member', 'reader'] } })
  })
})
