import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeApiServer } from '../testing/fake-api-server.ts'
import { Transport } from '../transport/transport.ts'
import type { Event } from '../types/index.ts'
import { KubeClient } from '../write/kube-client.ts'
import { type EventDraft, EventRecorder, type EventRecorderOptions } from './event-recorder.ts'

let server: FakeApiServer
let transport: Transport
let clock: FakeClock
let recorder: EventRecorder

const draft = (change: Partial<EventDraft> = {}): EventDraft => ({
  regarding: { apiVersion: 'v1', kind: 'Service', namespace: 'a', name: 'web', uid: 'u1' },
  type: 'Warning',
  reason: 'NoAddress',
  action: 'Allocate',
  note: 'pool public has 0 of 254 free',
  ...change,
})
const written = () => server.store.list('/apis/events.k8s.io/v1/namespaces/a/events') as readonly Event[]
const create = (options: Partial<EventRecorderOptions> = {}) => {
  recorder = new EventRecorder({
    client: new KubeClient(transport),
    reportingController: 'spout.dev/connector',
    reportingInstance: 'connector-1',
    log: silentLogger(),
    clock,
    ...options,
  })
}

beforeEach(async () => {
  server = await FakeApiServer.start()
  transport = new Transport({ access: server.access, firstRetryMs: 1 })
  clock = new FakeClock()
  create()
})
afterEach(async () => {
  await recorder.close()
  transport.close()
  await server.stop()
})

it('writes an event with all fields that the API requires', async () => {
  recorder.record(draft())
  await recorder.flush()
  expect(written()).toMatchObject([
    {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { namespace: 'a', name: expect.stringMatching(/^web\.[0-9a-f]+$/) },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'spout.dev/connector',
      reportingInstance: 'connector-1',
      regarding: { kind: 'Service', name: 'web', uid: 'u1' },
      type: 'Warning',
      reason: 'NoAddress',
      action: 'Allocate',
      note: 'pool public has 0 of 254 free',
    },
  ])
})

it('counts repetitions in a series, and writes the count now and then', async () => {
  recorder.record(draft())
  await recorder.flush()
  for (let second = 0; second < 120; second++) {
    await clock.advance(1000)
    recorder.record(draft())
    await recorder.flush()
  }
  expect(written()).toMatchObject([{ series: { count: 121, lastObservedTime: '2026-01-01T00:02:00.000000Z' } }])
  expect(recorder.counts).toEqual({ written: 3, repeated: 120, dropped: 0, failed: 0 })
  await clock.advance(6 * 60_000)
  recorder.record(draft())
  await recorder.flush()
  expect(written()).toHaveLength(2)
})

it('limits the events of one object, and of no other', async () => {
  for (let index = 0; index < 30; index++) recorder.record(draft({ note: `note ${index}` }))
  recorder.record(draft({ regarding: { kind: 'Service', namespace: 'a', name: 'other', uid: 'u2' } }))
  await recorder.flush()
  expect(written()).toHaveLength(11)
  expect(recorder.counts.dropped).toBe(20)
  await clock.advance(60_000)
  recorder.record(draft({ note: 'later' }))
  await recorder.flush()
  expect(written()).toHaveLength(12)
})

it('never fails the caller, whatever the server does', async () => {
  server.faults.push((_request, response) => {
    response.writeHead(403, { 'content-type': 'application/json' })
    response.end('{"kind":"Status","code":403,"reason":"Forbidden"}')
    return true
  })
  recorder.record(draft())
  await recorder.flush()
  expect(recorder.counts).toMatchObject({ written: 0, failed: 1 })
})

it('creates the event again when the server has dropped it', async () => {
  recorder.record(draft())
  await recorder.flush()
  const [event] = written()
  server.store.delete(`/apis/events.k8s.io/v1/namespaces/a/events/${event?.metadata.name}`)
  await clock.advance(60_000)
  recorder.record(draft())
  await recorder.flush()
  expect(written()).toHaveLength(1)
})

it('drops events beyond the queue, and waiting events when it is closed', async () => {
  create({ queueLimit: 2, burst: 100 })
  for (let index = 0; index < 10; index++) recorder.record(draft({ note: `note ${index}` }))
  expect(recorder.counts.dropped).toBeGreaterThan(0)
  await recorder.close()
  recorder.record(draft({ note: 'too late' }))
  expect(written().length).toBeLessThanOrEqual(1)
})

it('cuts a note between characters', async () => {
  recorder.record(draft({ note: 'ä'.repeat(2000) }))
  await recorder.flush()
  const { note = '' } = written()[0] as Event
  expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024)
  expect(note).toMatch(/^ä+\.\.\.$/)
})
