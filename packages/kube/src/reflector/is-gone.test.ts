import { silentLogger } from '@spout/runtime'
import { waitFor } from '@spout/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeApiServer } from '../testing/fake-api-server.ts'
import { refusal, send } from '../testing/fake-writes.ts'
import { Transport } from '../transport/transport.ts'
import { SERVICES, type Service } from '../types/index.ts'
import { Reflector } from './reflector.ts'

let server: FakeApiServer
let transport: Transport
let reflector: Reflector<Service, number>

const put = (name: string) => server.put(SERVICES, { metadata: { name, namespace: 'a' }, spec: {} })
const object = { namespace: 'a', name: 'late' }
const questions = () => server.requests.filter(({ query }) => query['fieldSelector'] !== undefined)

beforeEach(async () => {
  server = await FakeApiServer.start()
  transport = new Transport({ access: server.access, firstRetryMs: 2, maxRetryMs: 20 })
  for (const name of ['s1', 's2', 's3', 's4']) put(name)
  reflector = new Reflector<Service, number>({
    transport,
    log: silentLogger(),
    resource: SERVICES,
    trim: () => 0,
    firstRetryMs: 2,
    maxRetryMs: 20,
    relistJitterMs: 1,
  })
  reflector.start()
  await reflector.synced
  await waitFor(() => server.watchers > 0, { what: 'a watch' })
})
afterEach(async () => {
  await reflector.close()
  transport.close()
  await server.stop()
})

it('sees what the watch has not shown yet, with one newest list of one name', async () => {
  server.stallWatches()
  const { metadata } = put('late')
  expect(reflector.identity('a/late')).toBeUndefined()
  expect(await reflector.isGone(object, metadata.uid ?? '')).toBe(false)
  expect(questions().map(({ path, query }) => ({ path, query }))).toEqual([
    { path: '/api/v1/namespaces/a/services', query: { fieldSelector: 'metadata.name=late' } },
  ])
})

it('reports an object as gone when it is missing, or has another UID', async () => {
  expect(await reflector.isGone(object, 'u1')).toBe(true)
  put('late')
  expect(await reflector.isGone(object, 'u1')).toBe(true)
})

it('throws without an answer, without the right to list, or when the answer is not a list', async () => {
  const answers = [refusal(403, 'Forbidden', 'no'), { status: 200, body: { kind: 'Status', metadata: {} } }]
  for (const answer of answers) {
    server.faults.push(({ query }, response) => {
      if (query['fieldSelector'] === undefined) return false
      send(response, answer)
      return true
    })
    await expect(reflector.isGone(object, 'u1')).rejects.toThrow()
    server.faults.pop()
  }
  expect(await reflector.isGone(object, 'u1')).toBe(true)
})

it('throws when the server is older than what it sent before', async () => {
  const state = server.store.snapshot()
  put('s5')
  await waitFor(() => reflector.identity('a/s5') !== undefined, { what: 's5' })
  server.store.restore(state)
  await expect(reflector.isGone(object, 'u1')).rejects.toThrow(/sent .* before/)
})

it('throws when another cluster answers', async () => {
  server.becomeAnotherCluster('another')
  await expect(reflector.isGone(object, 'u1')).rejects.toThrow('another cluster answers (another)')
})

it('takes no absence as a deletion while the deletion guard is up, and finds what is there', async () => {
  server.stallWatches()
  for (const name of ['s1', 's2', 's3', 's4']) server.delete(SERVICES, { namespace: 'a', name })
  server.store.compact()
  server.cutWatches()
  await waitFor(() => reflector.deletionGuard?.reason === 'empty', { what: 'the deletion guard' })
  await expect(reflector.isGone(object, 'u1')).rejects.toThrow('missing objects are kept (empty)')
  const { metadata } = put('late')
  expect(await reflector.isGone(object, metadata.uid ?? '')).toBe(false)
  reflector.confirm()
  expect(await reflector.isGone({ namespace: 'a', name: 's1' }, 'u1')).toBe(true)
})
