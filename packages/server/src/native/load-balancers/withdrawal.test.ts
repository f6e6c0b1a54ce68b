import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../../testing/test-bed.ts'

let bed: TestBed
let own: string
let token: string
let foreign: string
let admin: string

beforeAll(async () => {
  bed = await openTestBed()
  own = (await bed.admission.createProject({ name: 'own', description: '' })).id
  const other = await bed.admission.createProject({ name: 'other', description: '' })
  token = (await bed.login('connector', own, 'balancer')).token
  foreign = (await bed.login('stranger', other.id, 'member')).token
  admin = await bed.adminLogin()
})
afterAll(() => bed.close())

const ask = async (id: string, query = '', who = token) => {
  const { status, body } = await bed.askNative('GET', `/load-balancers/${id}/withdrawal${query}`, who)
  return { status, body }
}

const NODE = { nodeId: randomUUID(), nodeName: 'node1', connection: 'connected', message: null } as const
const held = (projectId: string | null, overdue = false) => ({ projectId, overdue, waitingFor: [NODE] })

test('answers whether nodes have removed it, and which have not', async () => {
  const id = randomUUID()
  bed.withdrawals.hold(id, held(own))
  const waiting = { withdrawn: false, overdue: false, waitingFor: [NODE] }
  expect(await ask(id)).toEqual({ status: 200, body: waiting })
  expect(await ask(id, '?waitMs=20')).toEqual({ status: 200, body: waiting })
  bed.withdrawals.letGo(id)
  expect(await ask(id)).toEqual({ status: 200, body: { withdrawn: true, overdue: false, waitingFor: [] } })
})

test('waits until they have, or until waiting is pointless', async () => {
  const [gone, stuck] = [randomUUID(), randomUUID()]
  for (const id of [gone, stuck]) bed.withdrawals.hold(id, held(own))
  const answers = [ask(gone, '?waitMs=30000'), ask(stuck, '?waitMs=30000')]
  bed.withdrawals.letGo(gone)
  bed.withdrawals.hold(stuck, held(own, true))
  const [first, second] = await Promise.all(answers)
  expect(first?.body).toMatchObject({ withdrawn: true })
  expect(second?.body).toMatchObject({ withdrawn: false, overdue: true, waitingFor: [{ nodeName: 'node1' }] })
})

test("another project's is not found, and without a known owner only an administrator sees nodes", async () => {
  const [theirs, forgotten] = [randomUUID(), randomUUID()]
  bed.withdrawals.hold(theirs, held(own))
  expect((await ask(theirs, '', foreign)).status).toBe(404)
  expect((await ask(theirs, '', admin)).body).toMatchObject({ waitingFor: [NODE] })
  bed.withdrawals.hold(forgotten, held(null))
  expect((await ask(forgotten)).body).toMatchObject({ withdrawn: false, waitingFor: [] })
  expect((await ask(forgotten, '', admin)).body).toMatchObject({ waitingFor: [NODE] })
})

test.each(['-1', 'x', '30001', '1.5', ''])('refuses to wait for %j', async (waitMs) => {
  expect(await ask(randomUUID(), `?waitMs=${waitMs}`)).toMatchObject({ status: 400, body: { field: 'waitMs' } })
})
