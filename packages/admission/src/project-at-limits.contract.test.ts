import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { DEFAULT_QUOTA, SpoutError } from '@spout/model'
import { SqliteStore } from '@spout/store'
import { recordFault } from '@spout/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StoreAdmission } from './store-admission.ts'
import { draftOf, memberOf, poolOf } from './testing/office.ts'
import { StoreView } from './view/store-view.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'spout-limits-'))
})
afterEach(() => rm(directory, { recursive: true }))

const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const WIDE = '\u{1f9a6}'.repeat(127)

/** The time and memory of a start on the store, measured in a process of its own. */
async function started(database: string) {
  const script = path.join(import.meta.dirname, 'testing/store-start-program.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [script, database])
  return JSON.parse(stdout) as { readonly objects: number; readonly bytes: number; readonly rssBytes: number }
}

/** A project that fills all the room it has, with as much text as fits. @returns bytes that it used */
async function fill(database: string): Promise<number> {
  const ended = new AbortController()
  const store = await SqliteStore.open({ path: database })
  const view = await StoreView.open(store, { signal: ended.signal })
  const admission = new StoreAdmission({ store, view })
  const { id: projectId } = await admission.createProject({ name: 'hoarder', description: '' })
  const cidr = '192.0.2.0/24'
  const { id: poolId } = await admission.createAddressPool({
    ...{ name: 'public', description: '', cidr, gatewayIp: null, projectIds: null, quarantineSeconds: 0 },
    ranges: [{ first: '192.0.2.10', last: '192.0.2.250' }],
  })
  const network = await admission.createNetwork({
    ...{ projectId, name: 'net', description: '', returnPath: 'snat' },
    segment: { physicalNetwork: 'net', vlan: null },
  })
  const subnet = { name: '', description: '', cidr: '10.0.0.0/24', gatewayIp: null, nodeRange: null }
  await admission.addSubnet(network.id, subnet)
  const tags = Array.from({ length: 100 }, (_, tag) => `${tag} ${WIDE.slice(0, 240)}`)
  let refusal: unknown = null
  for (let number = 1; refusal === null; number++)
    await admission
      .createLoadBalancer(
        draftOf(projectId, [{ from: 'pool', poolId, address: null }], {
          ...{ name: WIDE, description: WIDE, tags },
          pools: [
            poolOf(
              id(number * 1000),
              Array.from({ length: 4 }, (_, index) =>
                memberOf(id(number * 1000 + 1 + index), `10.0.0.${10 + index}`, 80, {
                  name: WIDE,
                  description: WIDE,
                  tags,
                }),
              ),
            ),
          ],
        }),
      )
      .catch((error: unknown) => {
        refusal = error
      })
  expect(refusal).toBeInstanceOf(SpoutError)
  expect(refusal).toMatchObject({ code: 'OverQuota', params: { resource: 'bytes' } })
  const { used } = admission.quotaOf(projectId)
  ended.abort()
  admission.close()
  await store.close()
  return used.bytes
}

test('the memory to open a store with a project at its limits follows the limit', async () => {
  const [empty, full] = [path.join(directory, 'empty.db'), path.join(directory, 'full.db')]
  await (await SqliteStore.open({ path: empty })).close()
  const bytes = await fill(full)
  expect(bytes).toBeGreaterThan(DEFAULT_QUOTA.bytes * 0.9)
  expect(bytes).toBeLessThanOrEqual(DEFAULT_QUOTA.bytes)
  const base = await started(empty)
  const start = await started(full)
  expect(start.bytes).toBe(bytes)
  const grownBytes = start.rssBytes - base.rssBytes
  // The texts in the database, the texts as read, and the objects made of them.
  expect(grownBytes).toBeLessThan(8 * DEFAULT_QUOTA.bytes)
  recordFault({
    fault: 'a project fills all the room it has with text',
    outcome: 'refused by its quota; the store starts',
    figure: `${(bytes / 1e6).toFixed(1)} MB stored, ${(grownBytes / 1e6).toFixed(1)} MB of memory at the start`,
  })
})
