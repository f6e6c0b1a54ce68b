import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CheckTarget, MemberTraffic } from '@spout/dataplane'
import type { MemberHealth } from '@spout/model/node-report'
import type { NodePool } from '@spout/model/node-state'
import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MemberHealthFeed } from './member-health-feed.ts'
import { NodeReconciler } from './reconcile-node.ts'
import { StateFile } from './state-file.ts'
import { domainEntry, loadBalancerEntry, memberEntry, putLine } from './testing/entries.ts'
import {
  RecordedAnnouncer,
  RecordedDomains,
  RecordedDriver,
  RecordedGroup,
  RecordedNode,
} from './testing/recorded-node.ts'

const pool = (ids: readonly string[], changes: Partial<NodePool> = {}): NodePool => ({
  id: 'p1',
  number: 1,
  mode: 'l4',
  algorithm: 'round-robin',
  sourceAffinity: false,
  proxyProtocol: 'none',
  members: ids.map((id, n) => memberEntry(id, `10.0.0.${n + 1}`)),
  slots: null,
  check: null,
  panicThreshold: 0,
  ...changes,
})
const entryOf = (ids: readonly string[], changes: Partial<NodePool> = {}) =>
  loadBalancerEntry('a', { pools: [pool(ids, changes)] })

describe('slow start', () => {
  const SLOW_MS = 10_000
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'spout-slow-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  async function agent(node: RecordedNode) {
    const clock = new FakeClock()
    const state = new StateFile(join(directory, 'entries.journal'), (error) => {
      throw error
    })
    const reconciler = new NodeReconciler({
      domains: new RecordedDomains(node),
      drivers: [new RecordedDriver(node)],
      preparers: [],
      followers: [],
      announcer: new RecordedAnnouncer(node),
      group: new RecordedGroup(node),
      state,
      onReport: () => {},
      onRemoved: () => {},
      onApplied: () => {},
      onInSync: () => {},
      clock,
      random: () => 0.5,
      log: silentLogger(),
    })
    await state.load()
    await reconciler.adopt()
    await reconciler.idle()
    return {
      reconciler,
      sync: async (ids: readonly string[]) => {
        reconciler.begin()
        const entry = entryOf(ids, { slowStartMs: SLOW_MS })
        reconciler.take([putLine(domainEntry(1)), putLine(entry), { type: 'synced' }])
        await reconciler.idle()
      },
      down: async (...ids: readonly string[]) => {
        reconciler.setDown('lb/a', new Set(ids))
        await reconciler.idle()
      },
      pass: async (ms: number) => {
        await clock.advance(ms)
        await reconciler.idle()
      },
      end: async () => {
        await reconciler.stop(0)
        await state.close()
      },
      risers: () => (node.programmed.get('lb/a') ?? '').split(' ').slice(2).join(' '),
    }
  }

  test('rises in steps, and a restart of the agent changes nothing', async () => {
    const node = new RecordedNode()
    const first = await agent(node)
    await first.sync(['m1', 'm2'])
    await first.pass(SLOW_MS)
    expect(first.risers()).toBe('')
    await first.sync(['m1', 'm2', 'm3'])
    expect(first.risers()).toBe('m3@10')
    await first.pass(SLOW_MS / 2)
    expect(first.risers()).toBe('m3@55')
    await first.end()
    const { transactions } = node
    const second = await agent(node)
    expect(node.transactions).toBe(transactions)
    await second.sync(['m1', 'm2', 'm3'])
    expect(node.transactions).toBe(transactions)
    expect(second.risers()).toBe('m3@55')
    await second.pass(SLOW_MS / 10)
    expect(second.risers()).toBe('m3@64')
    await second.down('m1')
    await second.down()
    expect(second.risers()).toBe('m1@10 m3@64')
    await second.pass(SLOW_MS)
    expect(second.risers()).toBe('')
    await second.end()
    const third = await agent(node)
    await third.sync(['m1', 'm2', 'm3'])
    await third.pass(SLOW_MS)
    expect(third.risers()).toBe('')
    await third.end()
  })
})

describe('traffic', () => {
  const check = { type: 'tcp', intervalMs: 1_000, timeoutMs: 500, rise: 2, fall: 3, http: null } as const
  const passive = { on: 'connection', failures: 3, holdMs: 10_000, maxDownPercent: 50 } as const
  const failed = (memberId: string, notConnected: number): MemberTraffic => ({
    key: 'lb/a',
    poolId: 'p1',
    memberId,
    connected: 0,
    notConnected,
    answered: 0,
    badAnswers: 0,
  })

  function feed(changes: Partial<NodePool>) {
    const clock = new FakeClock()
    const dead = new Set<string>()
    const told = new Map<string, MemberHealth | null>()
    let down: readonly string[] = []
    const run = async ({ address }: CheckTarget) =>
      dead.has(address)
        ? { ok: false, reason: 'connection refused', durationMs: 1 }
        : { ok: true, reason: null, durationMs: 1 }
    const health = new MemberHealthFeed({
      prober: { checks: [{ type: 'tcp', run }], clock, random: () => 0.5, log: silentLogger() },
      saved: new Map(),
      onHealth: (one) => told.set(one.memberId, one),
      onProbedNoMore: ({ memberId }) => told.set(memberId, null),
      onDown: (_, members) => {
        down = [...members].sort()
      },
    })
    health.applied('lb/a', entryOf(['m1', 'm2', 'm3', 'm4'], changes), null)
    return { clock, dead, told, health, down: () => down }
  }

  test('takes a member out before its check does; its check alone brings it back', async () => {
    const { clock, dead, told, health, down } = feed({ check, passive })
    expect(health.wantsTraffic).toBe(true)
    await clock.advance(1_000)
    expect(told.get('m1')).toMatchObject({ health: 'up' })
    dead.add('10.0.0.1')
    health.traffic([failed('m1', 0), failed('m2', 0)])
    health.traffic([failed('m1', 3), failed('m2', 2)])
    expect(down()).toEqual(['m1'])
    expect(told.get('m1')).toMatchObject({
      loadBalancerId: 'a',
      poolId: 'p1',
      health: 'down',
      reason: '3 connections in a row failed',
    })
    // By now its check has found it down, too.
    await clock.advance(20_000)
    expect(told.get('m1')).toMatchObject({ health: 'down', reason: 'connection refused' })
    dead.clear()
    await clock.advance(5_000)
    expect(down()).toEqual([])
    expect(told.get('m1')).toMatchObject({ health: 'up' })
  })

  test('keeps a member out whose check succeeds, for its time', async () => {
    const { clock, told, health, down } = feed({ check, passive })
    await clock.advance(1_000)
    health.traffic([failed('m1', 0)])
    health.traffic([failed('m1', 3)])
    await clock.advance(9_900)
    expect(told.get('m1')).toMatchObject({ health: 'down' })
    expect(down()).toEqual(['m1'])
    await clock.advance(200)
    expect(told.get('m1')).toMatchObject({ health: 'up' })
    expect(down()).toEqual([])
    health.close()
  })

  test('a member without a monitor returns after a time, and nothing is reported then', async () => {
    const { clock, told, health, down } = feed({ passive })
    health.traffic([failed('m1', 0)])
    health.traffic([failed('m1', 3)])
    expect(told.get('m1')).toMatchObject({ health: 'down' })
    expect(down()).toEqual(['m1'])
    await clock.advance(10_000)
    expect(told.get('m1')).toBeNull()
    expect(down()).toEqual([])
  })

  test('is not asked for by pools that do not want it', () => {
    const { health } = feed({ check })
    expect(health.wantsTraffic).toBe(false)
    health.close()
  })
})
