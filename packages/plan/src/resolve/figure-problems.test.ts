import { LISTENER_PROTOCOLS, listener } from '@spout/model'
import { expect, test } from 'vitest'
import { figureProblems } from './figure-problems.ts'

const listening = (protocol: string, own: object) =>
  listener.parse({
    ...{ id: '00000000-0000-4000-8000-000000000001', name: '', description: '', tags: [] },
    ...{ createdAt: '2026-01-01T00:00:00.000Z', updatedAt: null },
    ...{ enabled: true, protocol, port: 80, defaultPoolId: null, ...own },
  })

test.each(LISTENER_PROTOCOLS)('latencies of a listener of protocol %s', (protocol) => {
  const problems = [...figureProblems(listening(protocol, { latencies: true }), 'listeners[0]')]
  const readsRequests = protocol === 'http' || protocol === 'https'
  expect(problems.map(({ params }) => params.field)).toEqual(readsRequests ? [] : ['listeners[0].latencies'])
  expect([...figureProblems(listening(protocol, {}), 'listeners[0]')]).toEqual([])
})

test.each(LISTENER_PROTOCOLS)('access log of a listener of protocol %s', (protocol) => {
  const problems = [...figureProblems(listening(protocol, { accessLog: {} }), 'listeners[0]')]
  const proxied = ['http', 'https', 'tcp-proxy', 'tls', 'tls-passthrough'].includes(protocol)
  expect(problems.map(({ params }) => params.field)).toEqual(proxied ? [] : ['listeners[0].accessLog'])
})

test('figures of routes belong to listeners that count latencies', () => {
  const fields = (own: object) =>
    [...figureProblems(listening('http', own), 'listeners[0]')].map(({ params }) => params.field)
  expect(fields({ routeFigures: true })).toEqual(['listeners[0].routeFigures'])
  expect(fields({ routeFigures: true, latencies: true })).toEqual([])
})
