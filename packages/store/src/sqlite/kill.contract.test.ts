import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { byLength } from '@spout/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Change, Revision, Store } from '../store.ts'
import { SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'
import { StoreChild } from './testing/store-child.ts'
import type { Pair } from './testing/store-process.ts'

const KILLS = byLength(40, 200)
const WRITERS = 8
/**
 * The step is counted from before the file is opened in every second life, and from the first acknowledged write in the
 * others.
 */
const LONGEST_LIFE_MS = 60

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spout-kill-'))
})
afterAll(() => rm(directory, { recursive: true }))

/** Lets a store write and kills it: at any step, recovery included, or when it writes. */
async function runAndKill(
  child: StoreChild,
  options: SqliteStoreOptions,
  at: 'any step' | 'a write',
): Promise<readonly Pair[]> {
  await child.ready
  const writing = child
    .call({ op: 'open', options })
    .then(() => child.call({ op: 'write-pairs', writers: WRITERS }))
    .catch(String)
  if (at === 'a write')
    await vi.waitFor(() => expect(child.acknowledged).not.toEqual([]), { interval: 1, timeout: 20_000 })
  await sleep(Math.random() * LONGEST_LIFE_MS)
  await child.kill()
  expect(await writing).toBe('Error: the process is gone')
  return child.acknowledged
}

async function logAfter(store: Store, from: Revision): Promise<ReadonlyMap<Revision, readonly Change[]>> {
  const byRevision = new Map<Revision, Change[]>()
  for await (const change of store.watch({ from, signal: new AbortController().signal })) {
    if (change.type !== 'put') break
    byRevision.set(change.object.revision, [...(byRevision.get(change.object.revision) ?? []), change])
  }
  return byRevision
}

interface Life {
  /** The commits that the killed process left in the log, by revision. */
  readonly pairs: ReadonlyMap<string, Pair>
  /** Commits that are not whole, or not the next of their writer. */
  readonly broken: readonly string[]
}

/** @param counts each writer's last count, brought up to date */
function readLife(log: ReadonlyMap<Revision, readonly Change[]>, counts: number[]): Life {
  const pairs = new Map<string, Pair>()
  const broken: string[] = []
  for (const [revision, changes] of log) {
    const objects = changes.flatMap((change) => (change.type === 'put' ? [change.object] : []))
    const writer = Number(objects[0]?.id.split('-')[1])
    const n = (counts[writer] ?? 0) + 1
    const found = objects.map(({ id, value }) => `${id}=${(value as { n: number }).n}`).join()
    if (found !== `left-${writer}=${n},right-${writer}=${n}`) broken.push(`${revision}: ${found}, due ${n}`)
    counts[writer] = n
    pairs.set(revision, { writer, n, revision })
  }
  return { pairs, broken }
}

test(`kill -9, ${KILLS} times: nothing acknowledged is lost, nothing is half there`, async () => {
  const options = {
    path: join(directory, 'spout.db'),
    // Small, so that kills also meet checkpoints and compaction.
    checkpointPages: 60,
    retention: { changes: 10_000, bytes: 8 * 1024 * 1024 },
  }
  const first = await SqliteStore.open(options)
  let at = await first.revision()
  await first.close()

  const counts: number[] = Array.from({ length: WRITERS }, () => 0)
  let acknowledged = 0
  const start = () => new StoreChild({ env: { NODE_COMPILE_CACHE: join(directory, 'compiled') } })
  let spare = start()
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      const child = spare
      spare = start()
      const reported = await runAndKill(child, options, kill % 2 === 0 ? 'any step' : 'a write')

      const store = await SqliteStore.open(options)
      const { pairs, broken } = readLife(await logAfter(store, at), counts)
      expect(broken).toEqual([])
      const lost = reported.filter(({ revision, writer, n }) => {
        const kept = pairs.get(revision)
        return kept?.writer !== writer || kept.n !== n
      })
      expect(lost).toEqual([])
      const stored = (await store.list('pair')).items.map(({ id, value }) => [id, (value as { n: number }).n])
      const expected = ['left', 'right'].flatMap((side) => counts.map((n, writer) => [`${side}-${writer}`, n] as const))
      expect(stored).toEqual(expected.filter(([, n]) => n > 0))
      at = await store.revision()
      await store.close()
      acknowledged += reported.length
    }
  } finally {
    await spare.kill()
  }
  expect(acknowledged).toBeGreaterThanOrEqual(KILLS / 2)
  // It starts a process of Node.js for each kill, and ends with the last: three seconds each where all processors are
  // taken.
}, 300_000)
