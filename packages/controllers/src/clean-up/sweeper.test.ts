import type { Address, EnrolmentToken, Token } from '@spout/model'
import { silentLogger } from '@spout/runtime'
import { MemoryStore } from '@spout/store'
import { expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { uuid } from '../testing/model.ts'
import { Sweeper } from './sweeper.ts'

const PAST = '2025-12-31T23:59:59.000Z'
const FUTURE = '2026-01-01T00:10:00.000Z'
const meta = { name: '', description: '', createdAt: PAST, updatedAt: null }

const address = (number: number, quarantineUntil: string | null): Address => ({
  ...meta,
  id: `${uuid('other', 1)}/198.18.0.${number}`,
  portId: uuid('other', number),
  address: `198.18.0.${number}`,
  scope: 'fabric',
  holderId: uuid('other', 1),
  subnetId: null,
  projectId: uuid('project', 1),
  tags: [],
  use: 'vip',
  ownerId: null,
  quarantineUntil,
})

const token = (digit: string, expiresAt: string): Token => ({
  ...meta,
  id: digit.repeat(64),
  userId: uuid('other', 1),
  projectId: null,
  roles: [],
  expiresAt,
})

const enrolment = (number: number, expiresAt: string): EnrolmentToken => ({
  ...meta,
  id: uuid('other', number),
  nodeName: 'n1',
  nodeGroupId: uuid('group', 1),
  secretSha256: '',
  expiresAt,
  usedAt: null,
  grant: null,
})

test('deletes what has expired and nothing else', async () => {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(
    ['address', address(1, PAST)],
    ['address', address(2, FUTURE)],
    ['address', address(3, null)],
    ['token', token('a', PAST)],
    ['token', token('b', FUTURE)],
    ['enrolmentToken', enrolment(1, PAST)],
    ['enrolmentToken', enrolment(2, FUTURE)],
  )
  const sweeper = new Sweeper({
    view: plane.view,
    store: plane.store,
    clock: plane.clock,
    log: silentLogger(),
    everyMs: 1000,
  })
  sweeper.start()
  await plane.clock.advance(1000)
  await plane.idle()
  expect(plane.view.list('address').map((one) => one.address)).toEqual(['198.18.0.2', '198.18.0.3'])
  expect(plane.view.list('token').map((one) => one.id[0])).toEqual(['b'])
  expect(plane.view.list('enrolmentToken').map((one) => one.id)).toEqual([uuid('other', 2)])
  await plane.clock.advance(600_000)
  await plane.idle()
  expect(plane.view.list('address').map((one) => one.address)).toEqual(['198.18.0.3'])
  await sweeper.stop()
  await plane.stop()
})

test('an address that was taken again meanwhile is not deleted', async () => {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['address', address(1, PAST)])
  // The view lags behind this write when the sweep looks.
  const retaken = address(1, null)
  await plane.store.commit([{ op: 'put', kind: 'address', id: retaken.id, scope: null, value: retaken }])
  const sweeper = new Sweeper({ view: plane.view, store: plane.store, clock: plane.clock, log: silentLogger() })
  expect(await sweeper.sweep()).toBe(0)
  await plane.idle()
  expect(plane.view.list('address')).toHaveLength(1)
  await plane.stop()
})
