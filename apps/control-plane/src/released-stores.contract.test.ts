import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { FORMATS } from '@spout/store/formats'
import {
  callApi,
  Lab,
  PRODUCT_ENVIRONMENT,
  passwordToken,
  run,
  type SystemAccess,
  startControlPlane,
} from '@spout/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { programWith } from './testing/control-plane-process.ts'

/** What tools/release/stored-state.ts made of each version: the store, its sealing keys, and what the API showed. */
const RELEASED = path.join(import.meta.dirname, 'testdata/released')
const VERSIONS = readdirSync(RELEASED)

type Shown = { readonly id: string } & Readonly<Record<string, unknown>>
interface ShownLoadBalancer extends Shown {
  readonly name: string
  readonly description: string
}

test('there is a store of every release but the last one, which is the next to get one', () => {
  const changelog = readFileSync(path.resolve(import.meta.dirname, '../../../CHANGELOG.md'), 'utf8')
  const releases = [...changelog.matchAll(/^## (\d+\.\d+\.\d+) \(/gm)].map(([, version]) => version)
  expect(VERSIONS).toEqual(expect.arrayContaining(releases.slice(1)))
  expect(VERSIONS.length).toBeGreaterThan(0)
})

describe.each(VERSIONS)('the store of %s', (version) => {
  let lab: Lab
  beforeEach(async () => {
    lab = await Lab.create()
  })
  afterEach(() => lab.destroy())

  test('is taken over: every object is as it was, passwords and keys are good, and it can be changed', async () => {
    const state = path.join(lab.directory, 'control-plane')
    mkdirSync(state, { recursive: true })
    for (const file of ['spout.db', 'sealing-keys'])
      copyFileSync(path.join(RELEASED, version, file), path.join(state, file))
    const access = await startControlPlane(lab)
    const before = JSON.parse(readFileSync(path.join(RELEASED, version, 'objects.json'), 'utf8')) as Record<
      string,
      Shown[]
    >
    const after = await lists(access, Object.keys(before))
    // A later version may show more fields, never fewer, and never another value.
    for (const [name, items] of Object.entries(before)) expect([name, after[name]]).toMatchObject([name, items])
    const { token } = await passwordToken(access.endpoint, {
      user: 'alice',
      password: 'alice-in-the-lab',
      project: 'acme',
    })
    const { items } = await callApi<{ items: ShownLoadBalancer[] }>(access.endpoint, token, 'GET', '/load-balancers')
    const [shop] = items
    const change = { description: 'changed' }
    await callApi(access.endpoint, token, 'PATCH', `/load-balancers/${shop?.id}`, change)
    expect(await callApi(access.endpoint, token, 'GET', `/load-balancers/${shop?.id}`)).toMatchObject({
      ...change,
      name: 'shop',
    })
    expect(await callApi(access.endpoint, access.admin.token, 'GET', '/control-plane')).toMatchObject({
      store: FORMATS.sqlite,
    })
    const log = readFileSync(path.join(lab.directory, 'control-plane.log'), 'utf8')
    expect(log.split('\n').filter((line) => /object-invalid|certificates-unopened|"bug":true/.test(line))).toEqual([])
  }, 120_000)
})

async function lists({ endpoint, admin }: SystemAccess, names: readonly string[]) {
  const shown = names.map(async (name) => {
    const { items } = await callApi<{ items: Shown[] }>(endpoint, admin.token, 'GET', `/${name}`)
    return [name, items] as const
  })
  return Object.fromEntries(await Promise.all(shown))
}

test('the store of a version that this one does not know is refused with the reason, and no byte of it is changed', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'spout-newer-'))
  try {
    const file = path.join(directory, 'spout.db')
    copyFileSync(path.join(RELEASED, VERSIONS.at(-1) ?? '', 'spout.db'), file)
    const newer = FORMATS.sqlite.version + 1
    const database = new DatabaseSync(file)
    database.exec(`UPDATE schema_version SET version = ${newer}; PRAGMA user_version = ${newer}`)
    database.close()
    const digest = () => createHash('sha256').update(readFileSync(file)).digest('hex')
    const before = digest()
    const argv = [process.execPath, ...programWith(['store.engine=sqlite', `stateDirectory=${directory}`])]
    const { code, stderr } = await run(argv, { env: PRODUCT_ENVIRONMENT })
    expect(code).toBe(1)
    expect(stderr).toContain(`it has schema version ${newer}, and this program knows up to ${newer - 1}`)
    expect(digest()).toBe(before)
  } finally {
    rmSync(directory, { recursive: true })
  }
})
