import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SqliteStore } from '@spout/store'
import { byLength, recordFault } from '@spout/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { draftOf, type Office, openOffice } from './testing/office.ts'

const PROJECTS = 50
/** How many changes each writer has under way at once. */
const AT_ONCE = 4
const TRIES = byLength(20, 200)

let directory: string
let office: Office
beforeEach(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-burst-'))
  office = await openOffice({}, await SqliteStore.open({ path: path.join(directory, 'spout.db') }))
})
afterEach(async () => {
  await office.close()
  rmSync(directory, { recursive: true })
})

const ofNewProject = async (name: string): Promise<string> => {
  const { admission, pool } = office
  const { id } = await admission.createProject({ name, description: '' })
  return (await admission.createLoadBalancer(draftOf(id, [{ from: 'pool', poolId: pool.id, address: null }]))).id
}
const change = (id: string, description: string) => office.admission.changeLoadBalancer(id, () => ({ description }))
const descriptionOf = (id: string) => office.view.get('loadBalancer', id)?.value.description

/** Ids of the load balancers whose changes are stored, in their order. */
const storedChanges = (): readonly string[] => {
  const stored: string[] = []
  office.view.onChange((changed) => stored.push(...changed.map(({ id }) => id)))
  return stored
}

test('F18: in a burst of 50 projects a write of another waits for one flush, and is the first of the next', async () => {
  const busy: string[] = []
  for (let n = 0; n < PROJECTS; n++) busy.push(await ofNewProject(`busy${n}`))
  const other = await ofNewProject('other')
  const stored = storedChanges()
  let isOver = false
  const last = new Map<string, string>()
  let changes = 0
  const write = async (id: string): Promise<void> => {
    while (!isOver) {
      const description = `change ${++changes}`
      last.set(id, description)
      await change(id, description)
    }
  }
  const burst = busy.flatMap((id) => Array.from({ length: AT_ONCE }, () => write(id)))
  const before: number[] = []
  for (let turn = 0; turn < TRIES; turn++) {
    const since = stored.length
    await change(other, `turn ${turn}`)
    before.push(stored.indexOf(other, since) - since)
    expect(descriptionOf(other)).toBe(`turn ${turn}`)
  }
  isOver = true
  await Promise.all(burst)

  // A flush contains at most one change of each load balancer.
  expect(Math.max(...before)).toBeLessThanOrEqual(PROJECTS)
  expect(stored.length).toBeGreaterThan(PROJECTS)
  expect(busy.map(descriptionOf)).toEqual(busy.map((id) => last.get(id)))
  const idle = before.filter((count) => count === 0).length
  recordFault({
    fault: `API: writes of one project among those of ${PROJECTS} that each have ${AT_ONCE} under way (F18)`,
    outcome: 'each waits for the flush under way at most, and is the first of the next; no change is lost',
    whole: '200 writes',
    figure: `at most ${Math.max(...before)} of ${PROJECTS * AT_ONCE} stored before it; ${idle} of ${TRIES} found an idle disk`,
  })
})
