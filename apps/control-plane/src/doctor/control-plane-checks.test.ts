import { expect, test } from 'vitest'
import { judgeDatabaseServers } from './checks/database-servers.ts'
import { judgeReadiness } from './checks/readiness.ts'
import { judgeCertificates } from './checks/served-certificates.ts'
import { judgeStored } from './checks/stored.ts'

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number))

test('readiness: a line for each condition, with its section of the runbook', () => {
  const url = 'http://127.0.0.1:9134/readyz'
  expect(judgeReadiness({ url, status: 200, text: 'ok' })).toEqual([])
  const text = 'store: the disk is full\nleader: no control plane leads\nodd: so it is'
  expect(judgeReadiness({ url, status: 503, text })).toEqual([
    {
      ...{ code: 'NotReady', subject: 'store', message: 'the disk is full.' },
      fix: 'docs/runbook.md, "The store takes no writes"',
    },
    {
      ...{ code: 'NotReady', subject: 'leader', message: 'no control plane leads.' },
      fix: 'docs/runbook.md, "Nobody leads"',
    },
    { code: 'NotReady', subject: 'odd', message: 'so it is.', fix: 'journalctl -u spout-control-plane' },
  ])
  // Without the token it says no reason.
  expect(judgeReadiness({ url, status: 503, text: 'not ready' })).toEqual([
    { code: 'NotReady', subject: null, message: 'not ready.', fix: 'journalctl -u spout-control-plane' },
  ])
  expect(judgeReadiness({ url, status: null, text: 'connect ECONNREFUSED' })).toMatchObject([
    { code: 'ControlPlaneStopped', subject: url, message: 'connect ECONNREFUSED.' },
  ])
})

test('certificates', () => {
  const port = (ends: Date | null) => ({
    ...{ what: 'api', address: '127.0.0.1:9130', ends, error: ends === null ? 'connect ECONNREFUSED' : null },
  })
  const judge = (ends: Date | null, authorityEnds: Date | null = day(400)) =>
    judgeCertificates({ now: day(1), ports: [port(ends)], authorityEnds }).map(({ code, subject, message }) => [
      code,
      subject,
      message,
    ])
  expect(judge(day(9))).toEqual([])
  expect(judge(day(9), null)).toEqual([])
  expect(judge(day(8))).toEqual([
    ['ServedCertificateEnds', 'api 127.0.0.1:9130', 'Its certificate ends 2026-01-08T00:00:00.000Z.'],
  ])
  expect(judge(null, day(100))).toEqual([
    ['PortSilent', 'api 127.0.0.1:9130', 'connect ECONNREFUSED.'],
    ['AuthorityEnds', null, 'It ends 2026-04-10T00:00:00.000Z.'],
  ])
})

test('store', () => {
  expect(judgeStored(null)).toEqual([])
  expect(judgeStored({ file: '/s/spout.db', used: false, damages: [] })).toEqual([])
  expect(judgeStored({ file: '/s/spout.db', used: false, damages: ['Tree 5\npage 7: bad'] })).toMatchObject([
    { code: 'StoreDamaged', subject: '/s/spout.db', message: 'Tree 5 page 7: bad.' },
  ])
})

test('database: a server that cannot take over is a warning, none that takes writes an error', () => {
  const server = (name: string, state: 'writes' | 'standby' | 'unusable') => ({
    ...{ server: name, state, reason: state === 'unusable' ? 'connect ECONNREFUSED' : null },
  })
  const judge = (...servers: readonly ReturnType<typeof server>[]) =>
    judgeDatabaseServers(servers).map(({ code, subject, message }) => [code, subject, message])
  expect(judgeDatabaseServers(null)).toEqual([])
  expect(judge(server('db1:5432', 'writes'), server('db2:5432', 'standby'))).toEqual([])
  expect(judge(server('db1:5432', 'writes'), server('db2:5432', 'unusable'))).toEqual([
    ['DatabaseServerUnusable', 'db2:5432', 'It cannot be used: connect ECONNREFUSED.'],
  ])
  expect(judge(server('db1:5432', 'unusable'), server('db2:5432', 'standby'))).toEqual([
    ['DatabaseReadOnly', null, 'No server takes writes; db2:5432 is a standby.'],
    ['DatabaseServerUnusable', 'db1:5432', 'It cannot be used: connect ECONNREFUSED.'],
  ])
})
