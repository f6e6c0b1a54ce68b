import { createTenant, Lab, type SystemAccess, startControlPlane } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { spoutAs } from '../../testing/installed-spout.ts'

let lab: Lab
let access: SystemAccess
beforeAll(async () => {
  lab = await Lab.create()
  access = await startControlPlane(lab)
}, 120_000)
afterAll(() => lab?.destroy())

const upgrade = (token: string, ...words: readonly string[]) => spoutAs(access, token, ['upgrade', ...words])

test('an installation of its own version is current', async () => {
  const version = (await spoutAs(access, '', ['--version'])).stdout.trim()
  const { code, stdout } = await upgrade(access.admin.token, '--check', '-o', 'json')
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({
    ...{ code: 0, target: version, state: 'current', steps: [], obstacles: [] },
    parts: [{ kind: 'control-plane', name: access.endpoint, version, standing: 'current' }],
    back: expect.arrayContaining([
      expect.stringMatching(/^The store stays as it is \(sqlite, schema version \d+\)\.$/),
    ]),
  })
  expect((await upgrade(access.admin.token, '--check')).stdout).toMatch(
    new RegExp(`^Everything is of version ${RegExp.escape(version)}\\.\\n`),
  )
})

test('a control plane that cannot be asked is named', async () => {
  const { code, stdout, stderr } = await upgrade(
    access.admin.token,
    '--check',
    '--control-planes',
    'http://127.0.0.1:1',
  )
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('http://127.0.0.1:1')
})

test('it changes nothing itself, so it must be called with --check', async () => {
  const { code, stderr } = await upgrade(access.admin.token)
  expect(code).toBe(2)
  expect(stderr).toContain('--check')
})

test('a tenant is refused', async () => {
  const tenant = { project: 'a', user: 'a', password: 'a-in-the-lab', segment: 'a', returnPath: 'snat' } as const
  const { token } = await createTenant(access, tenant)
  const { code, stdout, stderr } = await upgrade(token, '--check')
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('the role admin is needed')
})
