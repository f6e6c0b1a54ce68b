import { expect, test } from 'vitest'
import { domainEntry, service, vip, wanted } from '../../testing/entries.ts'
import { appliedIn, countersIn, featuresIn, lostIn, parseAnswer, statsIn, wireEntry } from './protocol.ts'

test('an entry goes without the routes of its listeners, as plain JSON', () => {
  const made = wanted('a', domainEntry(1), {
    vips: [vip('198.51.100.20')],
    services: [service('l', 80, null, { protocol: 'http', routes: [{ id: 'secret' }] as never })],
  })
  const wire = wireEntry(
    { ...made, down: new Set(['m2', 'm1']), shares: new Map([['m1', 30]]), proxyPorts: new Map([['l', { port: 9 }]]) },
    '/run/netns/x',
  )
  expect(JSON.parse(JSON.stringify(wire))).toEqual(wire)
  expect(wire).toMatchObject({ netns: '/run/netns/x', down: ['m1', 'm2'], shares: { m1: 30 }, proxyPorts: { l: 9 } })
  expect(JSON.stringify(wire)).not.toContain('secret')
  expect(made.entry.services[0]).toHaveProperty('routes')
})

test.each(['', 'no', '[]', 'null', '"x"'])('an answer of %j is refused', (line) => {
  expect(() => parseAnswer(line)).toThrow('it answered no JSON')
})

test("a driver's own words are one line of printable characters", () => {
  expect(() => parseAnswer(JSON.stringify({ error: 'full\n\u202eof \u0007holes' }))).toThrow(/^full of holes$/)
  expect(() => parseAnswer('{"error":""}')).toThrow('it gave no reason')
})

test('another version is refused', () => {
  expect(() => featuresIn({ version: 2 })).toThrow('it speaks version 2 of the protocol, and this agent 1')
  expect([...featuresIn({ version: 1, features: ['l4.tcp', 7] })]).toEqual(['l4.tcp'])
  expect([...featuresIn({ version: 1 })]).toEqual([])
})

test('outcomes are of the keys that were asked for, and are read or refused', () => {
  const keys = new Set(['lb/a', 'lb/b'])
  const failed = { key: 'lb/b', state: 'failed', reason: 'no code!', message: 'x'.repeat(9_000) }
  expect(appliedIn({}, keys)).toEqual([])
  expect(appliedIn({ applied: [{ key: 'lb/a', state: 'programmed', reason: 'x' }, failed] }, keys)).toEqual([
    { key: 'lb/a', state: 'programmed', reason: null, message: null },
    { key: 'lb/b', state: 'failed', reason: 'DriverRefused', message: 'x'.repeat(500) },
  ])
  for (const applied of [{}, [{ key: 'lb/c', state: 'programmed' }], [{ key: 'lb/a', state: 'well' }], [null]])
    expect(() => appliedIn({ applied }, keys)).toThrow()
})

test('lost keys, counters and statistics are taken as far as they can be read', () => {
  expect(lostIn({ lost: ['lb/a', 3] })).toEqual(['lb/a'])
  expect(lostIn({})).toEqual([])
  expect(countersIn({ counters: { transactions: 3, reloads: 0 } })).toEqual({ transactions: 3, reloads: 0 })
  for (const counters of [undefined, { transactions: -1, reloads: 0 }, { transactions: 1.5, reloads: 0 }])
    expect(countersIn({ counters })).toBeNull()
  const counted = { bytesIn: 1, bytesOut: 2, activeConnections: 3, totalConnections: 4, requestErrors: 0 }
  const row = { loadBalancerId: 'a', listenerId: 'l', ...counted }
  expect(statsIn({ stats: [{ ...row, more: 1 }, { ...row, bytesIn: -1 }, null] }, new Set(['a']))).toEqual([row])
  expect(statsIn({ stats: [row] }, new Set(['b']))).toEqual([])
})
