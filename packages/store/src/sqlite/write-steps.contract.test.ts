import { execFileSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { recordFault } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'

const COMMITS = 90
/**
 * sqlite.org/fileformat2.html, section 4: a header, then frames of a header and a page. SQLite writes each by itself.
 */
const WAL_HEADER = 32
const FRAME_HEADER = 24
const PAGE = 4096
const FRAME = FRAME_HEADER + PAGE

interface Acknowledged {
  /** The length of the WAL when the commit was acknowledged. */
  readonly walBytes: number
  readonly revision: string
  readonly stored: readonly string[]
}

let directory: string
let before: Buffer
let wal: Buffer
const acknowledged: Acknowledged[] = []

const optionsOf = (path: string): SqliteStoreOptions => ({ path, checkpointPages: 1_000_000 })

const storedIn = async (store: SqliteStore): Promise<readonly string[]> =>
  (await store.list('pair')).items.map(({ id, value }) => `${id}=${JSON.stringify(value)}`).sort()

/** What a store finds that opens these files. */
async function found(database: Buffer, log: Buffer): Promise<Omit<Acknowledged, 'walBytes'>> {
  const path = join(directory, 'crashed.db')
  writeFileSync(path, database)
  writeFileSync(`${path}-wal`, log)
  const store = await SqliteStore.open(optionsOf(path))
  try {
    return { revision: await store.revision(), stored: await storedIn(store) }
  } finally {
    await store.close()
  }
}

/**
 * Creates, changes and deletes objects, two at a time, some larger than a page. Copies the files while the store is
 * open.
 */
beforeAll(async () => {
  // In memory: what a crash left is read from files that are complete, so no disk has to flush a thousand times.
  directory = await mkdtemp('/dev/shm/spout-steps-')
  const path = join(directory, 'spout.db')
  const store = await SqliteStore.open(optionsOf(path))
  const note = async () =>
    acknowledged.push({
      walBytes: statSync(`${path}-wal`).size,
      revision: await store.revision(),
      stored: await storedIn(store),
    })
  await note()
  for (let n = 1; n <= COMMITS; n++) {
    const ids = ['left', 'right'].map((side) => `${side}-${n % 7}`)
    const isThere = acknowledged.at(-1)?.stored.some((text) => text.startsWith(`${ids[0]}=`)) === true
    const value = { n, text: 'x'.repeat(n % 5 === 0 ? 6000 : 20) }
    await store.commit(
      ids.map((id) =>
        n % 6 === 0 && isThere
          ? { op: 'delete' as const, kind: 'pair', id }
          : { op: 'put' as const, kind: 'pair', id, scope: null, value },
      ),
    )
    await note()
  }
  // By another process: closing a file in this one would drop the store's lock on it.
  execFileSync('cp', [path, `${path}-wal`, await mkdtemp(join(directory, 'copy-'))])
  const copy = execFileSync('find', [directory, '-path', '*copy-*', '-name', 'spout.db']).toString().trim()
  before = readFileSync(copy)
  wal = readFileSync(`${copy}-wal`)
  await store.close()
})
afterAll(() => rm(directory, { recursive: true }))

test('a crash after every step of every commit: what was acknowledged is stored, what was not is not, nothing is stored by half', async () => {
  const first = acknowledged[0]?.walBytes ?? 0
  let steps = 0
  for (let frame = 0; WAL_HEADER + frame * FRAME <= wal.length; frame++) {
    const start = WAL_HEADER + frame * FRAME
    // Before a frame, after its header, and within its page: a write that a crash tore.
    for (const at of [start, start + FRAME_HEADER, start + FRAME_HEADER + PAGE / 2]) {
      if (at < first || at > wal.length) continue
      const due = acknowledged.findLast(({ walBytes }) => walBytes <= at)
      const { revision, stored } = await found(before, wal.subarray(0, at))
      expect({ at, revision, stored }).toEqual({ at, revision: due?.revision, stored: due?.stored })
      steps++
    }
  }
  expect(steps).toBeGreaterThanOrEqual(1000)
  recordFault({
    fault: 'store: crash after every step of a commit',
    outcome: 'each acknowledged commit is there, each other is not',
    figure: `${steps} crashes over ${COMMITS} commits, 0 lost, 0 half applied`,
  })
})

test('a crash after every page of a checkpoint loses nothing', async () => {
  const last = acknowledged.at(-1)
  await found(before, wal)
  const after = readFileSync(join(directory, 'crashed.db'))
  expect(after.equals(before)).toBe(false)
  let steps = 0
  for (let at = 0; at <= after.length; at += PAGE / 2) {
    const mixed = Buffer.concat([after.subarray(0, at), before.subarray(at)])
    const { revision, stored } = await found(mixed, wal)
    expect({ at, revision, stored }).toEqual({ at, revision: last?.revision, stored: last?.stored })
    steps++
  }
  recordFault({
    fault: 'store: crash within a checkpoint',
    outcome: 'every acknowledged commit is there',
    figure: `${steps} crashes, 0 lost`,
  })
})
