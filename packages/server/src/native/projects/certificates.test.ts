import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { FakeClock } from '@spout/runtime/fake-clock'
import { createLogger } from '@spout/runtime/logger'
import { issueCertificate } from '@spout/testkit/tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../../testing/test-bed.ts'

const DAY_MS = 86_400_000
const one = issueCertificate({ names: ['a.example', '*.b.example'], days: 60 })
const two = issueCertificate({ names: ['c.example'], days: 90 })

let bed: TestBed
let clock: FakeClock
let member: string
let reader: string
let stranger: string
let admin: string
/** All text that a client or an operator could read. */
let seen = ''

beforeAll(async () => {
  clock = new FakeClock(new Date())
  const log = createLogger({
    name: 'test',
    level: 'trace',
    destination: {
      write: (line: string) => {
        seen += line
      },
    },
  })
  bed = await openTestBed(clock, undefined, { log })
  const projectId = (await bed.admission.createProject({ name: 'one', description: '' })).id
  const other = (await bed.admission.createProject({ name: 'two', description: '' })).id
  member = (await bed.login('m', projectId, 'member')).token
  reader = (await bed.login('r', projectId, 'reader')).token
  stranger = (await bed.login('s', other, 'member')).token
  admin = await bed.adminLogin()
})
afterAll(() => bed.close())

const call = async (...all: Parameters<TestBed['askNative']>) => {
  const answer = await bed.askNative(...all)
  seen += JSON.stringify(answer)
  return answer
}
const store = (of = one, rest: object = {}) =>
  call('POST', '/certificates', member, { name: 'web', chain: of.certificate, key: of.key, ...rest })

describe('certificates', () => {
  test('are stored, listed, shown, replaced and deleted', async () => {
    const made = await store()
    expect(made).toMatchObject({
      status: 201,
      body: { name: 'web', names: ['a.example', '*.b.example'], keyType: 'ecdsa-p256', status: { state: 'valid' } },
    })
    const { id } = made.body
    expect((await call('GET', '/certificates?name=web', reader)).body.items).toEqual([made.body])
    const after = await call('PATCH', `/certificates/${id}`, member, { chain: two.certificate, key: two.key })
    expect(after).toMatchObject({ status: 200, body: { id, name: 'web', names: ['c.example'] } })
    expect(after.body.fingerprint).not.toBe(made.body.fingerprint)
    expect((await call('GET', `/certificates/${id}`, reader)).body).toEqual(after.body)
    expect(await call('DELETE', `/certificates/${id}`, member)).toMatchObject({ status: 204 })
    expect(await call('GET', `/certificates/${id}`, member)).toMatchObject({ status: 404 })
  })

  test('do not exist for another project, and are only read by a reader', async () => {
    const { id } = (await store()).body
    const change = { name: 'mine' }
    for (const [method, body] of [['GET'], ['PATCH', change], ['DELETE']] as const)
      expect(await call(method, `/certificates/${id}`, stranger, body)).toMatchObject({ status: 404 })
    expect((await call('GET', '/certificates', stranger)).body.items).toEqual([])
    expect(await call('PATCH', `/certificates/${id}`, reader, change)).toMatchObject({ status: 403 })
    expect(await call('DELETE', `/certificates/${id}`, reader)).toMatchObject({ status: 403 })
    expect(await call('DELETE', `/certificates/${id}`, admin)).toMatchObject({ status: 204 })
  })

  test('say when they expire within 30 days, and when they have', async () => {
    const { id } = (await store()).body
    const state = async () => (await call('GET', `/certificates/${id}`, await bed.adminLogin())).body.status
    expect(await state()).toMatchObject({ state: 'valid' })
    await clock.advance(31 * DAY_MS)
    expect(await state()).toMatchObject({ state: 'expiring', message: expect.stringContaining('in 28 days') })
    await clock.advance(30 * DAY_MS)
    expect(await state()).toMatchObject({ state: 'expired' })
    expect(await call('DELETE', `/certificates/${id}`, await bed.adminLogin())).toMatchObject({ status: 204 })
  })
})

test('a private key is in no answer, watch, log, audit record or stored object', async () => {
  const canary = issueCertificate({ names: ['canary.example'] })
  const marks = canary.key.split('\n').filter((line) => line.length === 64)
  expect(marks.length).toBeGreaterThan(1)
  const owner = (await bed.login('w', (await bed.admission.createProject({ name: 'w', description: '' })).id, 'member'))
    .token
  const send = (method: 'POST' | 'PATCH', at: string, body: unknown) => call(method, at, owner, body)
  const draft = { name: 'canary', chain: canary.certificate, key: canary.key }
  const made = await send('POST', '/certificates', draft)
  expect(made.status).toBe(201)
  const at = `/certificates/${made.body.id}`
  // Errors must not quote it either.
  for (const [body, status] of [
    [{ chain: canary.certificate, key: canary.key }, 200],
    [{ chain: two.certificate, key: canary.key }, 400],
    [{ chain: canary.key, key: canary.certificate }, 400],
    [{ chain: canary.certificate, key: canary.key.slice(0, -40) }, 400],
    [{ chain: canary.certificate, key: [canary.key] }, 400],
    [{ name: canary.key, key: canary.key }, 400],
  ] as const)
    expect(await send('PATCH', at, body)).toMatchObject({ status })
  await call('GET', '/certificates', owner)
  await call('GET', '/audit', owner)
  await call('POST', at, owner, draft)
  const answers = seen
  await bed.audit.flush()
  for (const file of readdirSync(bed.auditDirectory)) seen += readFileSync(path.join(bed.auditDirectory, file), 'utf8')
  seen += JSON.stringify(await bed.store.list('certificate'))
  for (const mark of marks) expect(seen).not.toContain(mark)
  expect(seen).toContain(made.body.id)
  // The key is not shown even sealed.
  expect(answers).not.toContain('sealedKey')
})
