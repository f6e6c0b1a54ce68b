import type { MemberHealth, NodeReport } from '@spout/model'
import { expect, test } from 'vitest'
import { NodeReports } from './node-reports.ts'

const NODE = 'node-1'
const AT = '2026-01-01T00:00:00.000Z'
const reportOf = (sequence: number, fields: Partial<NodeReport> = {}): NodeReport => ({
  ...{ session: 's', sequence, inSync: false, features: [], entries: [], removed: [], members: [], stats: [] },
  ...fields,
})
const member = (id: number): MemberHealth => ({
  ...{ loadBalancerId: 'lb', poolId: 'pool', memberId: `member-${id}`, health: 'up', reason: null, since: AT },
})

test('health of members that come and go is kept for those that are there, and for few more', () => {
  const reports = new NodeReports()
  let newest = 0
  const isMember = (id: string) => Number(id.slice('member-'.length)) > newest - 10
  for (let turn = 1; turn <= 2000; turn++) {
    newest = turn * 5
    const members = [4, 3, 2, 1, 0].map((back) => member(newest - back))
    reports.merge(NODE, reportOf(turn, { members }), AT, isMember)
  }
  const kept = reports.members(NODE, 'lb')
  expect(kept?.size).toBeLessThanOrEqual(64)
  expect(kept?.has(`member-${newest}`)).toBe(true)
})

test('what a node had goes with its entry, and everything with the node', () => {
  const reports = new NodeReports()
  const entry = { key: 'lb/lb', hash: 'h', state: 'programmed', reason: null, message: null, announced: [] } as const
  reports.merge(NODE, reportOf(1, { entries: [entry], members: [member(1)] }), AT, () => true)
  expect([...reports.entries(NODE)]).toEqual([entry])
  reports.merge(NODE, reportOf(2, { removed: ['lb/lb'] }), AT, () => true)
  expect([...reports.entries(NODE)]).toEqual([])
  expect(reports.members(NODE, 'lb')).toBeNull()
  reports.merge(NODE, reportOf(3, { entries: [entry] }), AT, () => true)
  reports.forget(NODE)
  expect([[...reports.entries(NODE)], reports.node(NODE)]).toEqual([[], null])
})

test('what a restarted agent no longer has is dropped once it has reported everything', () => {
  const reports = new NodeReports()
  const entryOf = (id: number) =>
    ({ key: `lb/${id}`, hash: 'h', state: 'programmed', reason: null, message: null, announced: [] }) as const
  for (let session = 0; session < 50; session++) {
    const entries = Array.from({ length: 20 }, (_, at) => entryOf(session * 20 + at))
    reports.merge(NODE, reportOf(1, { session: `s${session}`, entries, inSync: true }), AT, () => true)
  }
  expect([...reports.entries(NODE)]).toHaveLength(20)
})

test('what a restarted agent reports of itself replaces what it did, and what it does not report is gone', () => {
  const reports = new NodeReports()
  const merge = (report: NodeReport) => reports.merge(NODE, report, AT, () => true)
  const conflict = { address: '192.0.2.1', mac: '02:00:00:00:00:01', since: AT } as never
  const shard = { domain: 1, shard: 1, state: 'master' } as never
  merge(reportOf(1, { inSync: true, addressConflicts: [conflict], logTroubles: [{ loadBalancerId: 'lb' } as never] }))
  const of = () => {
    const { shards, addressConflicts, logTroubles } = reports.node(NODE)!
    return { shards, addressConflicts, logTroubles }
  }
  merge(reportOf(1, { session: 'next', shards: [shard], bgpSessions: [] }))
  expect(of()).toMatchObject({ shards: [shard], addressConflicts: [conflict], logTroubles: [{}] })
  merge(reportOf(2, { session: 'next', inSync: true }))
  expect(of()).toEqual({ shards: [shard], addressConflicts: [], logTroubles: [] })
})

test('the version of an agent is that of its session, and unknown for one that reports none', () => {
  const reports = new NodeReports()
  const version = () => reports.node(NODE)?.version
  const merge = (report: NodeReport) => reports.merge(NODE, report, AT, () => true)
  expect(merge(reportOf(1, { version: '0.2.0', inSync: true })).node).toBe(true)
  expect([merge(reportOf(2, { inSync: true })).node, version()]).toEqual([false, '0.2.0'])
  // The way back: an earlier agent does not know the field, whatever else it reports.
  const earlier = { session: 'earlier', inSync: true, shards: [], bgpSessions: [] }
  expect([merge(reportOf(1, earlier)).node, version()]).toEqual([true, null])
})
