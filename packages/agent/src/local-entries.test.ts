import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StateLine } from '@spout/client/agent-link'
import { LOCAL_DOMAIN, LOCAL_SEGMENT, LOCAL_SHARD } from '@spout/model/local-entries'
import type { GroupEntry, NodeStateEntry, VrrpShard } from '@spout/model/node-state'
import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LocalEntries, type LocalNodeState } from './local-entries.ts'
import { NodeReconciler } from './reconcile-node.ts'
import { StateFile } from './state-file.ts'
import { domainEntry, loadBalancerEntry, putLine } from './testing/entries.ts'
import {
  RecordedAnnouncer,
  RecordedDomains,
  RecordedDriver,
  RecordedGroup,
  RecordedNode,
} from './testing/recorded-node.ts'

const PEERS = { source: '192.0.2.11', peers: ['192.0.2.12'], advertMs: 20, missedAdverts: 4 }

const group = (...shards: readonly VrrpShard[]): GroupEntry => ({
  ...{ kind: 'group', version: 1, key: 'group', bgp: null, flows: null },
  vrrp: shards.length === 0 ? null : { ...PEERS, peers: ['192.0.2.99'], shards, yield: false },
})
const ownShard: VrrpShard = { number: LOCAL_SHARD, routerId: 255, priority: 254, apart: PEERS }

const own = loadBalancerEntry('local-api', {
  domain: LOCAL_DOMAIN,
  vips: [{ address: '192.0.2.10', scope: 'fabric', announce: { via: 'vrrp', shard: LOCAL_SHARD } }],
})
const local: LocalNodeState = {
  entries: [domainEntry(LOCAL_DOMAIN, { segment: { physicalNetwork: LOCAL_SEGMENT, vlan: null } }), own],
  group: { ...group(), vrrp: { ...PEERS, shards: [ownShard], yield: false } },
}
const theirs = [domainEntry(1), loadBalancerEntry('theirs')]

let directory: string
let node: RecordedNode
let conflicts: string[]
let state: StateFile
let reconciler: NodeReconciler
let entries: LocalEntries
let groups: (GroupEntry | null)[]

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spout-local-'))
  node = new RecordedNode()
  conflicts = []
  groups = []
})
afterEach(() => rm(directory, { recursive: true }))

/** An agent as `NodeAgent` composes it, without a control plane at first. */
async function start(wanted: LocalNodeState | null): Promise<void> {
  state = new StateFile(join(directory, 'entries.journal'), (error) => {
    throw error
  })
  const recorded = new RecordedGroup(node)
  reconciler = new NodeReconciler({
    domains: new RecordedDomains(node),
    drivers: [new RecordedDriver(node)],
    ...{ preparers: [], followers: [], state },
    announcer: new RecordedAnnouncer(node),
    group: {
      follow: (entry) => {
        groups.push(entry)
        return recorded.follow(entry)
      },
    },
    ...{ onReport: () => {}, onRemoved: () => {}, onApplied: () => {}, onInSync: () => {} },
    ...{ clock: new FakeClock(), random: () => 0.5, log: silentLogger() },
  })
  entries = new LocalEntries(wanted, (message) => conflicts.push(message))
  await state.load()
  await reconciler.adopt()
  reconciler.takeLocal(entries.start(state.entries))
  await reconciler.idle()
}

async function end(): Promise<void> {
  await reconciler.stop(1000)
  await state.close()
}

async function restart(wanted: LocalNodeState | null): Promise<void> {
  await end()
  node.take()
  await start(wanted)
}

const take = async (...lines: readonly StateLine[]): Promise<void> => {
  reconciler.take(entries.merge(lines))
  await reconciler.idle()
}

/** A full set of a control plane, with which its stream begins. */
async function sync(...wanted: readonly NodeStateEntry[]): Promise<void> {
  reconciler.begin()
  reconciler.take(entries.begin())
  await take(...wanted.map(putLine), { type: 'synced' })
}

const shards = () => groups.at(-1)?.vrrp?.shards.map(({ number }) => number)
const balanced = () => [...node.programmed.keys()].sort()

describe("the entries of a node's own settings", () => {
  it('are in force at once, without a control plane', async () => {
    await start(local)
    expect(node.take()).toEqual(['group 1 shards', 'domain+ 16000001', 'put lb/local-api', 'announce 192.0.2.10'])
    await end()
  })

  it('stay when a control plane comes, whatever it sends, and it does not hear of them', async () => {
    await start(local)
    node.take()
    await sync(...theirs, group({ number: 1, routerId: 1, priority: 9 }))
    expect(balanced()).toEqual(['lb/local-api', 'lb/theirs'])
    expect(shards()).toEqual([1, LOCAL_SHARD])
    expect(node.take().filter((line) => /withdraw|remove|local/.test(line))).toEqual([])

    await take(
      { type: 'delete', key: own.key },
      { type: 'delete', key: `domain/${LOCAL_DOMAIN}` },
      putLine({ ...own, vips: [] }),
      { type: 'edit', key: own.key, from: 'x', hash: 'y', edits: [] },
      { type: 'delete', key: 'group' },
    )
    expect(balanced()).toEqual(['lb/local-api', 'lb/theirs'])
    expect(shards()).toEqual([LOCAL_SHARD])
    await sync()
    expect(balanced()).toEqual(['lb/local-api'])
    expect(shards()).toEqual([LOCAL_SHARD])
    expect(node.announced.has('192.0.2.10')).toBe(true)
    await end()
  })

  it('keep their shard when one of the control plane has its router id, which is left out', async () => {
    await start(local)
    await sync(group({ number: 1, routerId: 255, priority: 9 }, { number: 2, routerId: 3, priority: 9 }))
    expect(shards()).toEqual([2, LOCAL_SHARD])
    expect(conflicts).toEqual(['shard 1 is left out: local.routerId is its VRRP router id 255'])
    await end()
  })

  it('change nothing when the agent is restarted while the control plane is away', async () => {
    await start(local)
    await sync(...theirs, group({ number: 1, routerId: 1, priority: 9 }))
    await restart(local)
    expect(node.take()).toEqual(['group 2 shards'])
    expect(shards()).toEqual([1, LOCAL_SHARD])
    await end()
  })

  it('go when the settings no longer name them, at once', async () => {
    await start(local)
    await sync(...theirs, group({ number: 1, routerId: 1, priority: 9 }))
    await restart(null)
    expect(balanced()).toEqual(['lb/theirs'])
    expect(shards()).toEqual([1])
    expect([...node.domains.keys()]).toEqual([1])
    await restart(local)
    await restart(null)
    expect(shards()).toEqual([1])
    await end()
  })

  it('leave a node without any as it is', async () => {
    await start(null)
    expect(node.take()).toEqual([])
    await sync(...theirs, group({ number: 1, routerId: 1, priority: 9 }))
    await restart(null)
    expect(node.take()).toEqual(['group 1 shards'])
    await end()
  })
})
