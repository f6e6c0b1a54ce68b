import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StateLine } from '@spout/client/agent-link'
import type { DataPlaneDriver } from '@spout/dataplane'
import type { EntryReport } from '@spout/model/node-report'
import type { Announce, NodeStateEntry } from '@spout/model/node-state'
import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { byLength } from '@spout/testkit/long-tests'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
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

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spout-reconcile-'))
})
afterEach(() => rm(directory, { recursive: true }))

/** An agent's process on a node. Its memory ends with it; the node and the state file stay. */
class Process {
  readonly clock = new FakeClock()
  readonly reports = new Map<string, EntryReport>()
  readonly removed: string[] = []
  inSync = 0
  /** What the process has taken of a processor. */
  cpuMs = 0
  readonly state: StateFile
  readonly reconciler: NodeReconciler

  constructor(node: RecordedNode, driver: DataPlaneDriver = new RecordedDriver(node)) {
    this.state = new StateFile(join(directory, 'entries.journal'), (error) => {
      throw error
    })
    this.reconciler = new NodeReconciler({
      domains: new RecordedDomains(node),
      drivers: [driver],
      preparers: [],
      followers: [],
      announcer: new RecordedAnnouncer(node),
      group: new RecordedGroup(node),
      state: this.state,
      onReport: (report) => this.reports.set(report.key, report),
      onRemoved: (key) => {
        this.reports.delete(key)
        this.removed.push(key)
      },
      onApplied: () => {},
      onInSync: () => this.inSync++,
      clock: this.clock,
      random: () => 0.5,
      log: silentLogger(),
      cpuMs: () => this.cpuMs,
    })
  }

  static async start(node: RecordedNode, driver?: DataPlaneDriver): Promise<Process> {
    const process = new Process(node, driver)
    await process.state.load()
    await process.reconciler.adopt()
    await process.reconciler.idle()
    return process
  }

  async take(...lines: StateLine[]): Promise<void> {
    this.reconciler.take(lines)
    await this.reconciler.idle()
  }

  /** Takes a full set, with which a connection begins. */
  async sync(...entries: NodeStateEntry[]): Promise<void> {
    this.reconciler.begin()
    await this.take(...entries.map(putLine), { type: 'synced' })
  }

  /** Ends like a killed process, except that the journal is written. */
  async end(): Promise<void> {
    await this.reconciler.stop(1000)
    await this.state.close()
  }
}

const vip = (address: string, announce: Announce | null = { via: 'l2' }) => ({
  address,
  scope: 'fabric' as const,
  announce,
})

describe('order', () => {
  test('domain, data plane, announcement; removal in reverse', async () => {
    const node = new RecordedNode()
    const process = await Process.start(node)
    const entry = loadBalancerEntry('a', { vips: [vip('192.0.2.1')] })
    // The load balancer arrives first, and still its domain is made before it.
    await process.sync(entry, domainEntry(1))
    expect(node.take()).toEqual(['domain+ 1', 'put lb/a', 'announce 192.0.2.1'])
    expect(process.reports.get('lb/a')).toMatchObject({ state: 'programmed', announced: ['192.0.2.1'] })

    await process.take({ type: 'delete', key: 'domain/1' }, { type: 'delete', key: 'lb/a' })
    expect(node.take()).toEqual(['withdraw 192.0.2.1', 'remove lb/a', 'domain- 1'])
    expect(process.removed.sort()).toEqual(['domain/1', 'lb/a'])
    await process.end()
  })

  test('an entry that comes with its domain is applied once, and again when the domain changes alone', async () => {
    const node = new RecordedNode()
    const process = await Process.start(node)
    await process.sync(loadBalancerEntry('a'), domainEntry(1), loadBalancerEntry('b'))
    expect(node.handed.splice(0)).toEqual(['lb/a', 'lb/b'])
    await process.take(putLine(domainEntry(1, { returnPath: 'snat' })))
    expect(node.handed.splice(0)).toEqual(['lb/a', 'lb/b'])
    await process.end()
  })

  test('an address is announced after the state file has its owner, so that a killed agent leaves no unknown address', async () => {
    const node = new RecordedNode()
    const process = await Process.start(node)
    await process.sync(domainEntry(1))
    let journal = ''
    node.onAnnounce = () => {
      journal = readFileSync(join(directory, 'entries.journal'), 'utf8')
    }
    await process.take(putLine(loadBalancerEntry('a', { vips: [vip('192.0.2.1')] })))
    expect(journal).toContain('192.0.2.1')
    await process.end()
  })

  test('a removal is confirmed, even of an entry that never arrived', async () => {
    const node = new RecordedNode()
    const process = await Process.start(node)
    await process.sync(domainEntry(1))
    node.take()
    await process.take({ type: 'delete', key: 'lb/never' })
    expect(process.removed).toEqual(['lb/never'])
    await process.take(putLine(loadBalancerEntry('brief')), { type: 'delete', key: 'lb/brief' })
    expect(process.removed).toEqual(['lb/never', 'lb/brief'])
    await process.end()
  })

  test('an address that moves to another node is withdrawn before the entry changes', async () => {
    const node = new RecordedNode()
    const process = await Process.start(node)
    await process.sync(domainEntry(1), loadBalancerEntry('a', { vips: [vip('192.0.2.1')] }))
    node.take()
    await process.take(
      putLine(loadBalancerEntry('a', { generation: 2, vips: [vip('192.0.2.1', null), vip('192.0.2.2')] })),
    )
    expect(node.take()).toEqual(['withdraw 192.0.2.1', 'put lb/a', 'announce 192.0.2.2'])
    // When it comes back, the announcer learns that another node had it.
    const back = { vips: [vip('192.0.2.1'), vip('192.0.2.2'), vip('192.0.2.3')] }
    await process.take(putLine(loadBalancerEntry('a', { generation: 3, ...back })))
    expect([...node.announced.values()].map(({ address, takeover }) => [address, takeover ?? false])).toEqual([
      ['192.0.2.2', false],
      ['192.0.2.1', true],
      ['192.0.2.3', false],
    ])
    await process.end()
  })

  test('an address that moves to another entry stays announced', async () => {
    const node = new RecordedNode()
    const process = await Process.start(node)
    const [moving, own] = [vip('192.0.2.1'), vip('192.0.2.2')]
    const entries = (
      a: readonly ReturnType<typeof vip>[],
      b: readonly ReturnType<typeof vip>[],
      generation: number,
    ) => [loadBalancerEntry('a', { vips: a, generation }), loadBalancerEntry('b', { vips: b, generation })]
    await process.sync(domainEntry(1), ...entries([moving], [own], 1))
    node.take()
    await process.take(...entries([], [own, moving], 2).map(putLine))
    expect(node.take()).toEqual(['put lb/a', 'put lb/b'])
    expect([...node.announced.values()].map(({ address }) => address).sort()).toEqual(['192.0.2.1', '192.0.2.2'])
    await process.take(putLine(loadBalancerEntry('b', { vips: [own], generation: 3 })))
    expect(node.take()).toEqual(['withdraw 192.0.2.1', 'put lb/b'])
    // The address moves to an entry that is refused, so nobody announces it.
    node.refusals.set('lb/a', 'File exists')
    await process.take(...entries([own], [], 4).map(putLine))
    expect([...node.announced.values()]).toEqual([])
    await process.end()
  })

  test('an entry whose address could not be withdrawn is not removed', async () => {
    const node = new RecordedNode()
    const process = await Process.start(node)
    await process.sync(
      domainEntry(1),
      loadBalancerEntry('a', { vips: [vip('192.0.2.1')] }),
      loadBalancerEntry('b', { vips: [vip('192.0.2.2')] }),
    )
    node.take()
    node.withdrawalsFail = true
    await process.take(
      { type: 'delete', key: 'lb/a' },
      putLine(loadBalancerEntry('b', { generation: 2, vips: [vip('192.0.2.2')] })),
    )
    expect(node.take()).toEqual(['put lb/b'])
    expect(process.reports.get('lb/a')).toMatchObject({ state: 'failed', reason: 'WithdrawFailed' })
    node.withdrawalsFail = false
    await process.clock.advance(1000)
    await process.reconciler.idle()
    expect(node.take()).toEqual(['withdraw 192.0.2.1', 'remove lb/a'])
    await process.end()
  })

  test('a refused entry is not announced, keeps its previous state, and stops no other', async () => {
    const node = new RecordedNode()
    const process = await Process.start(node)
    node.refusals.set('lb/bad', 'No buffer space available')
    await process.sync(
      domainEntry(1),
      loadBalancerEntry('bad', { vips: [vip('192.0.2.9')] }),
      loadBalancerEntry('good', { vips: [vip('192.0.2.1')] }),
    )
    expect(node.take()).toEqual(['domain+ 1', 'put lb/good', 'announce 192.0.2.1'])
    expect(process.reports.get('lb/bad')).toMatchObject({
      state: 'failed',
      reason: 'KernelRefused',
      message: 'No buffer space available',
      announced: [],
    })
    node.refusals.clear()
    await process.clock.advance(200)
    await process.reconciler.idle()
    expect(node.take()).toEqual(['put lb/bad', 'announce 192.0.2.9'])
    expect(process.reports.get('lb/bad')).toMatchObject({ state: 'programmed', message: null })

    node.refusals.set('lb/bad', 'Invalid argument')
    await process.take(putLine(loadBalancerEntry('bad', { generation: 2, vips: [vip('192.0.2.9')] })))
    expect(node.take()).toEqual([])
    expect(process.reports.get('lb/bad')).toMatchObject({ state: 'failed', announced: ['192.0.2.9'] })
    await process.end()
  })

  test('a domain that fails fails what is in it, until it comes up', async () => {
    const node = new RecordedNode()
    const process = await Process.start(node)
    node.refusals.set('domain/2', 'no such physical network')
    await process.sync(domainEntry(1), domainEntry(2), loadBalancerEntry('a'), loadBalancerEntry('bb', { domain: 2 }))
    expect(node.take()).toEqual(['domain+ 1', 'put lb/a', 'announce 192.0.2.1'])
    expect(process.reports.get('lb/bb')).toMatchObject({
      state: 'failed',
      reason: 'DomainUnavailable',
      message: 'domain 2 does not exist on this node: no such physical network',
    })
    node.refusals.clear()
    await process.clock.advance(200)
    await process.reconciler.idle()
    expect(node.take()).toEqual(['domain+ 2', 'put lb/bb', 'announce 192.0.2.2'])
    await process.end()
  })
})

test('changes during a pass become one further pass, with the newest of each', async () => {
  const node = new RecordedNode()
  const process = await Process.start(node)
  await process.sync(domainEntry(1))
  node.take()
  let open = () => {}
  node.gate = new Promise((resolve) => {
    open = resolve
  })
  process.reconciler.take([putLine(loadBalancerEntry('a'))])
  await new Promise((resolve) => setImmediate(resolve))
  for (let generation = 2; generation < 50; generation++)
    process.reconciler.take([putLine(loadBalancerEntry('a', { generation }))])
  open()
  await process.reconciler.idle()
  expect(node.take()).toEqual(['put lb/a', 'announce 192.0.2.1', 'put lb/a'])
  expect(process.reports.get('lb/a')?.hash).toBe(putLine(loadBalancerEntry('a', { generation: 49 })).hash)
  await process.end()
})

test('members that are down are applied, and known after a restart', async () => {
  const node = new RecordedNode()
  const first = await Process.start(node)
  await first.sync(domainEntry(1), loadBalancerEntry('a'))
  first.reconciler.setDown('lb/a', new Set(['m1']))
  await first.reconciler.idle()
  first.reconciler.setDown('lb/a', new Set(['m1']))
  await first.reconciler.idle()
  expect(node.transactions).toBe(2)
  await first.end()
  const second = await Process.start(node)
  await second.sync(domainEntry(1), loadBalancerEntry('a'))
  expect(node.transactions).toBe(2)
  await second.end()
})

test('a restart with nothing changed touches nothing and confirms everything', async () => {
  const node = new RecordedNode()
  const entries = [domainEntry(1), ...['a', 'bb', 'ccc'].map((id) => loadBalancerEntry(id))]
  const first = await Process.start(node)
  await first.sync(...entries)
  await first.end()
  node.take()
  const before = node.transactions

  const second = await Process.start(node)
  expect([...second.reports.values()].map(({ state }) => state)).toEqual(Array(4).fill('programmed'))
  await second.sync(...entries)
  expect(node.take()).toEqual([])
  expect(node.transactions).toBe(before)
  expect(second.inSync).toBe(1)
  await second.end()
})

test('what the kernel lost while no agent ran is repaired at the start', async () => {
  const node = new RecordedNode()
  const first = await Process.start(node)
  await first.sync(domainEntry(1), loadBalancerEntry('a'), loadBalancerEntry('bb'))
  await first.end()
  node.take()
  node.programmed.delete('lb/bb')
  const second = await Process.start(node)
  expect(node.take()).toEqual(['put lb/bb'])
  await second.end()
})

test('a connection that breaks before the full set removes nothing', async () => {
  const node = new RecordedNode()
  const process = await Process.start(node)
  await process.sync(domainEntry(1), loadBalancerEntry('a'), loadBalancerEntry('bb'))
  node.take()
  process.reconciler.begin()
  await process.take(putLine(domainEntry(1)))
  process.reconciler.begin()
  await process.take(putLine(domainEntry(1)), putLine(loadBalancerEntry('bb')))
  expect(node.take()).toEqual([])
  await process.take({ type: 'synced' })
  expect(node.take()).toEqual(['withdraw 192.0.2.1', 'remove lb/a'])
  await process.end()
})

test('a new node begins with what has arrived, and is in sync with all of it', async () => {
  const node = new RecordedNode()
  const process = await Process.start(node)
  process.reconciler.begin()
  await process.take(putLine(loadBalancerEntry('a')), putLine(domainEntry(2)))
  expect(node.take()).toEqual(['domain+ 2'])
  await process.take(putLine(domainEntry(1)))
  expect(node.take()).toEqual(['domain+ 1', 'put lb/a', 'announce 192.0.2.1'])
  expect([...process.reports.values()].map(({ state }) => state)).toEqual(Array(3).fill('programmed'))
  // After the stream starts again, entries that it does not name are removed when the set is complete, not before.
  process.reconciler.begin()
  await process.take(putLine(domainEntry(1)), putLine(loadBalancerEntry('bb')))
  expect(node.take()).toEqual(['put lb/bb', 'announce 192.0.2.2'])
  expect(process.inSync).toBe(0)
  await process.take({ type: 'synced' })
  expect(node.take()).toEqual(['withdraw 192.0.2.1', 'remove lb/a', 'domain- 2'])
  expect(process.inSync).toBe(1)
  await process.end()
})

test('after an interrupted start on a new node, the next process does not treat it as new', async () => {
  const node = new RecordedNode()
  const first = await Process.start(node)
  first.reconciler.begin()
  await first.take(putLine(domainEntry(1)), putLine(loadBalancerEntry('a')))
  await first.end()
  node.take()
  const second = await Process.start(node)
  second.reconciler.begin()
  await second.take(putLine(domainEntry(1)), putLine(loadBalancerEntry('bb')))
  expect(node.take()).toEqual([])
  await second.take({ type: 'synced' })
  expect(node.take()).toEqual(['withdraw 192.0.2.1', 'put lb/bb', 'remove lb/a', 'announce 192.0.2.2'])
  await second.end()
})

test('with its state file lost, an agent touches nothing until it knows everything that is wanted', async () => {
  const node = new RecordedNode()
  const first = await Process.start(node)
  await first.sync(domainEntry(1), domainEntry(2), loadBalancerEntry('a'))
  await first.end()
  node.take()
  await rm(join(directory, 'entries.journal'))
  const second = await Process.start(node)
  second.reconciler.begin()
  await second.take(putLine(domainEntry(3)))
  second.reconciler.observe()
  await second.reconciler.idle()
  expect(node.take()).toEqual([])
  await second.take(putLine(loadBalancerEntry('a')), putLine(domainEntry(1)), { type: 'synced' })
  expect(node.take()).toEqual(['domain+ 3'])
  await second.end()
})

test('a change does not wait for a driver that reads much, which goes on afterwards', async () => {
  const node = new RecordedNode()
  /** Has read everything when `end` is called. */
  class LongReading extends RecordedDriver {
    observing = false
    /** Times that it was asked. */
    asked = 0
    end = () => {}

    override async observe(pressing?: AbortSignal): Promise<readonly string[]> {
      this.asked++
      this.observing = true
      const { promise, resolve } = Promise.withResolvers<boolean>()
      this.end = () => resolve(true)
      pressing?.addEventListener('abort', () => resolve(false))
      if (!(await promise)) return []
      this.observing = false
      return super.observe()
    }
  }
  const driver = new LongReading(node)
  const process = new Process(node, driver)
  await process.state.load()
  await process.reconciler.adopt()
  await expect.poll(() => driver.asked).toBe(1)
  process.reconciler.begin()
  process.reconciler.take([putLine(domainEntry(1)), putLine(loadBalancerEntry('a')), { type: 'synced' }])
  await expect.poll(() => node.programmed.has('lb/a')).toBe(true)
  await expect.poll(() => driver.asked).toBeGreaterThan(1)

  // Somebody else removes it, and the driver finds that although another change comes in between.
  node.programmed.delete('lb/a')
  const asked = driver.asked
  process.reconciler.take([putLine(loadBalancerEntry('bb'))])
  await expect.poll(() => node.programmed.has('lb/bb')).toBe(true)
  await expect.poll(() => driver.asked).toBeGreaterThan(asked)
  expect(node.programmed.has('lb/a')).toBe(false)
  driver.end()
  await process.reconciler.idle()
  expect(node.programmed.has('lb/a')).toBe(true)
  expect(process.inSync).toBe(1)
  await process.end()
})

test.each([
  [6, 6_000],
  [600, 60_000],
])(
  'a driver that reads for %i ms is asked again after %i ms, and at once where something was lost',
  async (costMs, restMs) => {
    const node = new RecordedNode()
    class Reading extends RecordedDriver {
      observing = false
      asked = 0

      override async observe(): Promise<readonly string[]> {
        this.asked++
        process.cpuMs += costMs
        return super.observe()
      }
    }
    const driver = new Reading(node)
    const process = new Process(node, driver)
    await process.state.load()
    await process.reconciler.adopt()
    await process.reconciler.idle()
    const observed = async (observe: () => void) => {
      driver.asked = 0
      observe()
      await process.reconciler.idle()
      return driver.asked
    }
    const rested = () => observed(() => process.reconciler.observeRested())
    expect(await rested()).toBe(0)
    await process.clock.advance(restMs - 1)
    expect(await rested()).toBe(0)
    await process.clock.advance(1)
    expect(await rested()).toBe(1)
    expect(await observed(() => process.reconciler.observe())).toBe(1)
    await process.end()
  },
)

test('an entry of a newer version is refused, and its previous state stays', async () => {
  const node = new RecordedNode()
  const process = await Process.start(node)
  await process.sync(domainEntry(1), loadBalancerEntry('a'))
  node.take()
  const future = { ...loadBalancerEntry('a'), version: 2 } as unknown as NodeStateEntry
  await process.take({ type: 'put', hash: 'future', entry: future })
  expect(node.take()).toEqual([])
  expect(process.reports.get('lb/a')).toMatchObject({ hash: 'future', state: 'failed', reason: 'UnsupportedVersion' })
  await process.end()
})

test('after any changes, failures and restarts the node has the last full set', async () => {
  const ids = ['a', 'bb', 'ccc', 'dddd']
  const step = fc.oneof(
    fc.record({
      do: fc.constant('put' as const),
      id: fc.constantFrom(...ids),
      generation: fc.integer({ min: 1, max: 5 }),
      announce: fc.constantFrom(null, { via: 'l2' as const }),
    }),
    fc.record({ do: fc.constant('delete' as const), id: fc.constantFrom(...ids) }),
    fc.record({ do: fc.constant('refuse' as const), id: fc.constantFrom(...ids) }),
    fc.record({ do: fc.constant('allow' as const) }),
    fc.record({ do: fc.constant('restart' as const) }),
    fc.record({ do: fc.constant('lose' as const), id: fc.constantFrom(...ids) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      await rm(join(directory, 'entries.journal'), { force: true })
      const node = new RecordedNode()
      const wanted = new Map<string, NodeStateEntry>([['domain/1', domainEntry(1)]])
      let process = await Process.start(node)
      await process.sync(...wanted.values())
      for (const one of steps) {
        if (one.do === 'put') {
          const entry = loadBalancerEntry(one.id, {
            generation: one.generation,
            vips: [vip(`192.0.2.${one.id.length}`, one.announce)],
          })
          wanted.set(entry.key, entry)
          await process.take(putLine(entry))
        } else if (one.do === 'delete') {
          wanted.delete(`lb/${one.id}`)
          await process.take({ type: 'delete', key: `lb/${one.id}` })
        } else if (one.do === 'refuse') node.refusals.set(`lb/${one.id}`, 'refused')
        else if (one.do === 'allow') node.refusals.clear()
        else if (one.do === 'lose') {
          node.programmed.delete(`lb/${one.id}`)
          process.reconciler.observe()
          await process.reconciler.idle()
        } else {
          await process.end()
          process = await Process.start(node)
          await process.sync(...wanted.values())
        }
        // Every announced address is in the data plane at any time.
        for (const address of node.announced.keys())
          expect(
            [...node.programmed.keys()].map((key) => `192.0.2.${key.length - 3}`).concat(lostSince(steps)),
          ).toContain(address)
      }
      node.refusals.clear()
      await process.sync(...wanted.values())
      await process.clock.advance(60_000)
      await process.reconciler.idle()
      const entries = [...wanted.values()].filter((entry) => entry.kind === 'load-balancer')
      expect([...node.programmed].sort()).toEqual(entries.map((entry) => [entry.key, `${putLine(entry).hash} `]).sort())
      expect([...node.announced.keys()].sort()).toEqual(
        entries.flatMap((entry) => entry.vips.filter((one) => one.announce).map((one) => one.address)).sort(),
      )
      await process.end()
    }),
    { numRuns: byLength(20, 60) },
  )
})

/** Addresses whose entry somebody else removed from the kernel. */
const lostSince = (steps: readonly { readonly do: string; readonly id?: string }[]): string[] =>
  steps.flatMap((step) => (step.do === 'lose' && step.id !== undefined ? [`192.0.2.${step.id.length}`] : []))
