import type { LocalReport } from '@spout/model/local-report'
import type { MemberHealth, NodeReport } from '@spout/model/node-report'
import type { LoadBalancerEntry, NodePool } from '@spout/model/node-state'
import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { afterEach, expect, it } from 'vitest'
import { Reporter } from './reporter.ts'
import { loadBalancerEntry, memberEntry } from './testing/entries.ts'

const ADDRESS = '192.0.2.10'
const MASTERS = ['192.0.2.11', '192.0.2.12'] as const
const check = { type: 'https', path: '/readyz', intervalMs: 250, timeoutMs: 1000, rise: 2, fall: 2 } as const

const idOf = (address: string): string => `local-api-server-${address}-6443`
const memberAt = (address: string) => ({ ...memberEntry(idOf(address), address), port: 6443, checkPort: 6443 })

const pool: NodePool = {
  ...{ id: 'local-api-server', number: 1, mode: 'l4', algorithm: 'round-robin', sourceAffinity: false, slots: null },
  ...{ proxyProtocol: 'none', panicThreshold: 1 },
  members: [memberAt(MASTERS[0]), null, memberAt(MASTERS[1])],
  check: {
    ...{ type: check.type, intervalMs: 250, timeoutMs: 1000, rise: 2, fall: 2 },
    http: { method: 'GET', path: check.path, expectedCodes: [{ first: 200, last: 299 }], version: '1.1', host: null },
  },
}
const [service] = loadBalancerEntry('x').services
const own: LoadBalancerEntry = loadBalancerEntry('local-api-server', {
  vips: [{ address: ADDRESS, scope: 'fabric', announce: { via: 'vrrp', shard: 17 } }],
  services: [{ ...service!, id: 'local-api-server', port: 6443 }],
  pools: [pool],
})

let reporter: Reporter | null = null
afterEach(() => reporter?.stop())

/** @returns the reports that arrive */
function start(local: readonly LoadBalancerEntry[]): { reporter: Reporter; reports: NodeReport[]; clock: FakeClock } {
  const [reports, clock] = [[] as NodeReport[], new FakeClock()]
  const send = async (report: NodeReport) => {
    reports.push(report)
    return { resend: reports.length === 3 }
  }
  reporter = new Reporter({ ...{ session: 's', features: () => [], local, send, clock }, log: silentLogger() })
  reporter.start()
  return { reporter, reports, clock }
}

const health = (address: string, up: boolean): MemberHealth => ({
  ...{ loadBalancerId: own.id, poolId: 'p', memberId: idOf(address), since: '2026-01-01T00:00:00.000Z' },
  health: up ? 'up' : 'down',
  reason: up ? null : 'connection refused',
})

const shard = (state: 'master' | 'backup') => ({
  shards: [{ number: 17, state, since: '2026-01-01T00:00:00.000Z', takeovers: 1, lastMove: null }],
})

it('says what the settings have, and what became of it, at once and in a field of its own', async () => {
  const { reporter: told, reports } = start([own])
  const last = (): LocalReport | undefined => reports.at(-1)?.local?.[0]
  await expect.poll(last).toMatchObject({
    ...{ name: 'api-server', address: ADDRESS, port: 6443, check },
    ...{ state: 'waiting', isOwner: false, counters: null },
    members: [
      { address: '192.0.2.11', port: 6443, health: 'unknown', since: '' },
      { address: '192.0.2.12', port: 6443, health: 'unknown', since: '' },
    ],
  })
  told.entry({ ...{ key: own.key, hash: 'h', state: 'programmed', reason: null, message: null }, announced: [ADDRESS] })
  await expect.poll(last).toMatchObject({ state: 'programmed', isOwner: false })
  told.tell(shard('master'))
  await expect.poll(last).toMatchObject({ isOwner: true })
  told.member(health('192.0.2.11', true))
  told.member(health('192.0.2.12', false))
  await expect
    .poll(() => last()?.members.map((one) => [one.health, one.reason]))
    .toEqual([
      ['up', null],
      ['down', 'connection refused'],
    ])
  told.tell(shard('backup'))
  await expect.poll(last).toMatchObject({ isOwner: false })
  // Nothing of it is where a control plane reads of its own objects.
  for (const report of reports)
    expect([...report.entries, ...report.members, ...report.stats, ...(report.shards ?? [])]).toEqual([])
})

it('has the newest counters in the next report', async () => {
  const { reporter: told, reports, clock } = start([own])
  await expect.poll(() => reports.length).toBe(1)
  const counters = { bytesIn: 1, bytesOut: 2, activeConnections: 3, totalConnections: 4, requestErrors: 5 }
  told.stats([{ loadBalancerId: own.id, listenerId: 'local-api-server', ...counters }])
  const next = async () => {
    await clock.advance(1000)
    return reports.at(-1)?.local?.[0]?.counters
  }
  await expect.poll(next).toEqual(counters)
})

it('says once that there is nothing, and again when everything is asked for', async () => {
  const { reports, clock } = start([])
  const next = async () => {
    await clock.advance(1000)
    return reports.length
  }
  await expect.poll(next).toBeGreaterThan(5)
  expect(reports.slice(0, 5).map(({ local }) => local)).toEqual([[], undefined, undefined, [], undefined])
})
