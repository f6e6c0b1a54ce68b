import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { waitFor } from '@spout/testkit'
import { expect, it } from 'vitest'
import { FakeApiServer } from '../testing/fake-api-server.ts'
import { Transport } from '../transport/transport.ts'
import type { Resource } from '../types/index.ts'
import type { CustomObject } from './custom-object.ts'
import { CustomObjects } from './custom-objects.ts'
import { statusOf } from './status.ts'

const THINGS: Resource<CustomObject> = { apiVersion: 'spout.dev/v1', kind: 'Thing', plural: 'things', namespaced: true }
const NOW = new Date('2026-01-01T00:00:00Z')

it('shows the status that was written last, while the watch still shows an earlier one', async () => {
  const server = await FakeApiServer.start()
  const transport = new Transport({ access: server.access, firstRetryMs: 2, maxRetryMs: 20 })
  const given = { transport, resource: THINGS, fieldManager: 'spout', clock: new FakeClock(), log: silentLogger() }
  const things = new CustomObjects(given)
  server.put(THINGS, { metadata: { name: 'one', namespace: 'a' }, spec: {} })
  things.reflector.start()
  await waitFor(() => things.get('a/one') !== undefined && server.watchers > 0, { what: 'the object' })
  const write = (status: 'True' | 'False') => {
    const object = things.get('a/one')!
    return things.writeStatus(object, statusOf(object, {}, [{ type: 'Up', status, reason: 'R', message: '' }], NOW))
  }
  const shown = () => things.get('a/one')?.status?.conditions?.map(({ status }) => status)
  await write('True')
  server.stallWatches()
  await write('False')
  expect(shown()).toEqual(['False'])
  await write('True')
  expect(shown()).toEqual(['True'])
  const writes = () => server.requests.filter(({ method }) => method === 'PATCH').length
  const before = writes()
  await write('True')
  expect(writes()).toBe(before)
  await things.reflector.close()
  transport.close()
  await server.stop()
})
