import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StateLine } from '@spout/client/agent-link'
import type { EntryReport } from '@spout/model/node-report'
import type { Announce, GroupEntry, NodeStateEntry } from '@spout/model/node-state'
import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { announcementsOf } from './entry-announcements.ts'
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

const SHARD: Announce = { via: 'vrrp', shard: 1 }

const group: GroupEntry = {
  kind: 'group',
  version: 1,
  key: 'group',
  vrrp: {
    source: '192.0.2.10',
    peers: ['192.0.2.11'],
    advertMs: 10,
    missedAdverts: 8,
    shards: [{ number: 1, routerId: 1, priority: 200 }],
    yield: false,
  },
  bgp: null,
  flows: null,
}

/** Of a group with more shards, the first of which has the same number. */
const another: GroupEntry = {
  ...group,
  vrrp: { ...group.vrrp!, shards: [1, 2].map((number) => ({ number, routerId: number + 4, priority: 200 })) },
}

let directory: string
let node: RecordedNode
let reports: Map<string, EntryReport>
let clock: FakeClock
let state: StateFile
let reconciler: NodeReconciler

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spout-agent-group-'))
  node = new RecordedNode()
  await start()
})

afterEach(async () => {
  await end()
  await rm(directory, { recursive: true })
})

async function start(): Promise<void> {
  reports = new Map()
  clock = new FakeClock()
  state = new StateFile(join(directory, 'entries.journal'), (error) => {
    throw error
  })
  reconciler = new NodeReconciler({
    domains: new RecordedDomains(node),
    drivers: [new RecordedDriver(node)],
    preparers: [],
    followers: [],
    announcer: new RecordedAnnouncer(node),
    group: new RecordedGroup(node),
    state,
    onReport: (report) => reports.set(report.key, report),
    onRemoved: (key) => reports.delete(key),
    onApplied: () => {},
    onInSync: () => {},
    clock,
    random: () => 0.5,
    log: silentLogger(),
  })
  await state.load()
  await reconciler.adopt()
  await reconciler.idle()
}

async function end(): Promise<void> {
  await reconciler.stop(1000)
  await state.close()
}

async function take(...lines: StateLine[]): Promise<void> {
  reconciler.take(lines)
  await reconciler.idle()
}

async function sync(...entries: NodeStateEntry[]): Promise<void> {
  reconciler.begin()
  await take(...entries.map(putLine), { type: 'synced' })
}

const sharded = loadBalancerEntry('a', { vips: [{ address: '192.0.2.1', scope: 'fabric', announce: SHARD }] })

describe("the node's membership in its group", () => {
  test('is applied first, whatever the order on the wire, and the gateway follows its domain', async () => {
    await sync(sharded, domainEntry(1, { gateway: SHARD }), group)
    expect(node.take()).toEqual(['group 1 shards', 'domain+ 1', 'announce 10.0.0.1', 'put lb/a', 'announce 192.0.2.1'])
    expect(reports.get('group')).toMatchObject({ state: 'programmed' })
    expect(reports.get('domain/1')).toMatchObject({ state: 'programmed', announced: ['10.0.0.1'] })
  })

  test("is reported with the announcer's error if it is refused, stops nothing, and is retried", async () => {
    node.groupRefused = 'vrrp.source: is not on the fabric'
    await sync(group, domainEntry(1), loadBalancerEntry('b'))
    expect(reports.get('group')).toMatchObject({
      state: 'failed',
      reason: 'GroupRefused',
      message: 'vrrp.source: is not on the fabric',
    })
    expect(reports.get('lb/b')).toMatchObject({ state: 'programmed' })
    node.groupRefused = null
    await clock.advance(1000)
    await reconciler.idle()
    expect(reports.get('group')).toMatchObject({ state: 'programmed' })
  })

  test('is taken over by the next process, after everything it may announce', async () => {
    await sync(sharded, domainEntry(1, { gateway: SHARD }), group)
    await end()
    node.take()
    await start()
    expect(node.take()).toEqual(['group 1 shards'])
    expect(reports.get('domain/1')).toMatchObject({ state: 'programmed', announced: ['10.0.0.1'] })
  })

  test('changes only after the addresses of removed entries were withdrawn', async () => {
    await sync(sharded, domainEntry(1, { gateway: SHARD }), group)
    node.take()
    const gone = [sharded.key, 'domain/1'].map((key): StateLine => ({ type: 'delete', key }))
    await take(...gone, putLine(another))
    const withdrawn = ['withdraw 10.0.0.1', 'withdraw 192.0.2.1']
    expect(node.take()).toEqual([...withdrawn, 'group 2 shards', 'remove lb/a', 'domain- 1'])
  })

  test('waits while more is removed than fits into a pass', async () => {
    const many = Array.from({ length: 600 }, (_, index) =>
      loadBalancerEntry(`m${index}`, {
        vips: [{ address: `192.0.3.${index}`, scope: 'fabric', announce: SHARD }],
      }),
    )
    await sync(...many, domainEntry(1), group)
    node.take()
    await take(...many.map(({ key }): StateLine => ({ type: 'delete', key })), putLine(another))
    const done = node.take()
    expect(done.findLastIndex((each) => each.startsWith('withdraw'))).toBeLessThan(done.indexOf('group 2 shards'))
    expect(done.filter((each) => each.startsWith('withdraw'))).toHaveLength(600)
  })

  test('ends when the control plane takes the entry away', async () => {
    await sync(group)
    node.take()
    await take({ type: 'delete', key: 'group' })
    expect(node.take()).toEqual(['group none'])
  })

  test('a gateway is withdrawn before its domain goes', async () => {
    await sync(group, domainEntry(1, { gateway: SHARD }))
    node.take()
    await take({ type: 'delete', key: 'domain/1' })
    expect(node.take()).toEqual(['withdraw 10.0.0.1', 'domain- 1'])
  })
})

test('with policy healthy an address is wanted only while a member is up', () => {
  const pool = { members: [memberEntry('m1', '10.0.0.11'), null, memberEntry('m2', '10.0.0.12')] }
  const entry = (policy: 'always' | 'healthy') =>
    loadBalancerEntry('a', {
      vips: [
        { address: '192.0.2.1', scope: 'fabric', announce: { via: 'bgp', advertisement: 1, policy, shard: null } },
      ],
      pools: [pool as never],
    })
  const wanted = (policy: 'always' | 'healthy', ...down: string[]) =>
    announcementsOf(entry(policy), new Set(down)).length
  expect([wanted('healthy'), wanted('healthy', 'm1'), wanted('healthy', 'm1', 'm2')]).toEqual([1, 1, 0])
  expect(wanted('always', 'm1', 'm2')).toBe(1)
})

describe('a node whose data plane is lost', () => {
  test('releases its addresses when nothing can be repaired, and takes part again when it can', async () => {
    await sync(domainEntry(1), loadBalancerEntry('b'))
    node.take()
    node.programmed.delete('lb/b')
    node.refusals.set('lb/b', 'no such table')
    reconciler.observe()
    await reconciler.idle()
    expect(node.take()).toContain('unhealthy')
    node.refusals.clear()
    await clock.advance(1000)
    await reconciler.idle()
    expect(node.take()).toContain('healthy')
  })

  test('keeps its addresses while it carries other load balancers', async () => {
    await sync(domainEntry(1), loadBalancerEntry('b'), loadBalancerEntry('cc'))
    node.take()
    node.programmed.delete('lb/b')
    node.refusals.set('lb/b', 'no such table')
    reconciler.observe()
    await reconciler.idle()
    expect(node.take()).not.toContain('unhealthy')
  })
})
