import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../testing/test-bed.ts'

let bed: TestBed
let projectId: string
beforeAll(async () => {
  bed = await openTestBed()
  ;({ id: projectId } = await bed.admission.createProject({ name: 'web', description: '' }))
})
afterAll(() => bed.close())

const make = (user: { readonly userId: string; readonly token: string }, fields: object) =>
  bed.ask('POST', `/identity/v3/users/${user.userId}/application_credentials`, user.token, {
    application_credential: fields,
  })
const usedBytes = () => bed.admission.quotaOf(projectId).used.bytes

describe('the bytes of application credentials are limited', () => {
  test('endlessly repeated roles are refused with field and reason', async () => {
    const owner = await bed.login('repeats', projectId, 'member')
    const roles = Array.from({ length: 5000 }, () => ({ name: 'member' }))
    const { status, body } = await make(owner, { name: 'many', roles })
    expect([status, body.error.message]).toEqual([
      400,
      expect.stringMatching(/^Field application_credential\.roles: .*16/),
    ])
  })

  test('a role that is named twice is stored once', async () => {
    const owner = await bed.login('twice', projectId, 'member')
    const roles = [{ name: 'reader' }, { name: 'member' }, { name: 'reader' }]
    const { status, body } = await make(owner, { name: 'two', roles })
    expect(status).toBe(201)
    expect(body.application_credential.roles.map(({ name }: { name: string }) => name)).toEqual(['reader', 'member'])
  })

  test('their bytes count for their project until they are deleted', async () => {
    const owner = await bed.login('counted', projectId, 'member')
    const before = usedBytes()
    const name = '\u{1f9a6}'.repeat(127)
    const { body } = await make(owner, { name, description: name })
    const { id } = body.application_credential
    const stored = bed.view.get('applicationCredential', id)?.value
    expect(usedBytes() - before).toBe(Buffer.byteLength(JSON.stringify(stored)))
    await bed.ask('DELETE', `/identity/v3/users/${owner.userId}/application_credentials/${id}`, owner.token)
    expect(usedBytes()).toBe(before)
  })

  test("one beyond its project's quota is refused", async () => {
    const owner = await bed.login('full', projectId, 'member')
    await bed.admission.setQuota(projectId, { bytes: usedBytes() + 1000 })
    const text = 'x'.repeat(255)
    const made = await Promise.all(['a', 'b', 'c'].map((name) => make(owner, { name, description: text })))
    expect(made.map(({ status }) => status).toSorted()).toEqual([201, 403, 403])
    expect(made.find(({ status }) => status === 403)?.body.error.message).toMatch(/^Quota for bytes is \d+, \d+ in use/)
    expect(usedBytes()).toBeLessThanOrEqual(bed.admission.quotaOf(projectId).limits.bytes)
  })
})
