import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { recordFault } from '@spout/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { next, put } from '../conformance/subject.ts'
import { SqliteStore } from './sqlite-store.ts'
import { StoreChild } from './testing/store-child.ts'

/**
 * Writes into the file SYNCS which thread flushes, and holds the flush while the file HOLD exists. The thread that a
 * process began with has the process's id (gettid(2)): in Node.js it runs the event loop.
 */
const SHIM = `
  #define _GNU_SOURCE
  #include <dlfcn.h>
  #include <fcntl.h>
  #include <stdlib.h>
  #include <unistd.h>
  static void note(const char *line) {
    int fd = open(getenv("SYNCS"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (write(fd, line, 5) != 5) abort();
    close(fd);
  }
  static int sync_by(const char *name, int fd) {
    note(gettid() == getpid() ? "loop\\n" : "side\\n");
    if (access(getenv("HOLD"), F_OK) == 0) note("held\\n");
    while (access(getenv("HOLD"), F_OK) == 0) usleep(1000);
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    return real(fd);
  }
  int fsync(int fd) { return sync_by("fsync", fd); }
  int fdatasync(int fd) { return sync_by("fdatasync", fd); }`

let built: string
let shim: string
beforeAll(async () => {
  built = await mkdtemp(join(tmpdir(), 'spout-shim-'))
  const source = join(built, 'shim.c')
  shim = join(built, 'shim.so')
  await writeFile(source, SHIM)
  await promisify(execFile)('gcc', ['-shared', '-fPIC', '-o', shim, source, '-ldl'])
})
afterAll(() => rm(built, { recursive: true }))

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spout-flush-'))
})
afterEach(() => rm(directory, { recursive: true }))

describe('a flush', () => {
  let hold: string
  let child: StoreChild
  beforeEach(async () => {
    hold = join(directory, 'hold')
    child = new StoreChild({ env: { LD_PRELOAD: shim, SYNCS: join(directory, 'syncs'), HOLD: hold } })
    await child.call({ op: 'open', options: { path: join(directory, 'spout.db'), checkpointPages: 20 } })
  })
  afterEach(() => child.kill())

  const syncs = async () => (await readFile(join(directory, 'syncs'), 'utf8')).trim().split('\n')
  const get = (id: string) => child.call({ op: 'get', id })
  const health = () => child.call({ op: 'health' })
  const untilHeld = () => vi.waitUntil(async () => (await syncs()).includes('held'), { timeout: 20_000 })

  test('that takes long holds no reader, and nobody hears of its commit before it ends', async () => {
    await child.call({ op: 'watch' })
    await child.call({ op: 'put', id: 'before', bytes: 1000 })
    await vi.waitUntil(() => child.changes.includes('before'), { timeout: 20_000 })
    await writeFile(hold, '')
    let acknowledged = false
    const slow = child.call({ op: 'put', id: 'slow', bytes: 1000 }).then(() => {
      acknowledged = true
    })
    await untilHeld()
    for (let round = 0; round < 20; round++) {
      expect(await get('before')).toBe('before')
      expect(await get('slow')).toBeNull()
    }
    await vi.waitUntil(async () => JSON.stringify(await health()).includes('the disk has not flushed for '), {
      timeout: 20_000,
    })
    expect({ acknowledged, changes: child.changes }).toEqual({ acknowledged: false, changes: ['before'] })
    await rm(hold)
    await slow
    expect(await health()).toEqual({ writable: true, reason: null })
    expect(await get('slow')).toBe('slow')
    await vi.waitUntil(() => child.changes.includes('slow'), { timeout: 20_000 })
    recordFault({
      fault: 'store: a flush that does not end',
      outcome: 'reads go on; its commit is neither acknowledged nor shown to watches and readers before it ends',
      figure: '40 reads during it; not ready after 5 s',
    })
  })

  test('a commit whose flush did not end is not acknowledged when the process is killed', async () => {
    await writeFile(hold, '')
    const outcome = child.call({ op: 'put', id: 'slow', bytes: 1000 }).catch(String)
    await untilHeld()
    const killed = child.kill()
    // A process ends only when its last thread has left the kernel.
    await rm(hold)
    await killed
    expect(await outcome).toBe('Error: the process is gone')
  })

  test('never happens on the event loop: not when the file is made, committed to, checkpointed or closed', async () => {
    for (let n = 0; n < 30; n++) await child.call({ op: 'put', id: `o${n % 10}`, bytes: 5000 })
    await child.call({ op: 'close' })
    const threads = await syncs()
    expect(threads.filter((thread) => thread === 'loop')).toEqual([])
    // At least one flush per commit, and two per checkpoint: of the WAL and of the file.
    expect(threads.length).toBeGreaterThanOrEqual(30 + 2 * 2)
  })
})

test('the WAL keeps to its bound while many write and many read all the time', async () => {
  const path = join(directory, 'spout.db')
  const checkpointPages = 100
  const store = await SqliteStore.open({ path, checkpointPages })
  const [writers, commits] = [16, 60]
  let writing = true
  let longest = 0
  const write = async (writer: number) => {
    for (let n = 0; n < commits; n++) {
      await store.commit([put(`o${writer}`, 'x'.repeat(4000 + n))])
      longest = Math.max(longest, (await stat(`${path}-wal`)).size)
    }
  }
  const read = async () => {
    for (let reads = 0; ; reads++) {
      if (!writing) return reads
      expect((await store.list('node')).items.length).toBeLessThanOrEqual(writers)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const reading = read()
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  writing = false
  expect(await reading).toBeGreaterThan(0)
  await store.close()
  const pages = longest / (4096 + 24)
  // A flush of all writers changes 100 pages at most. Without checkpoints there would be thousands.
  expect(pages).toBeGreaterThan(checkpointPages / 2)
  expect(pages).toBeLessThan(4 * checkpointPages)
})

test('a list is exact while commits are being flushed: a watch from it misses nothing and repeats nothing', async () => {
  const store = await SqliteStore.open({ path: join(directory, 'spout.db') })
  const last = 100
  const writing = (async () => {
    for (let n = 1; n <= last; n++) await store.commit([put('a', n), put(`b${n % 3}`, n)])
  })()
  for (let seen = 0; seen < last; ) {
    const { items, revision } = await store.list('node')
    seen = Number(items.find(({ id }) => id === 'a')?.value ?? 0)
    expect(items.every(({ id, value }) => id === 'a' || Number(value) <= seen)).toBe(true)
    if (seen === last) break
    const watching = store.watch({ from: revision, signal: new AbortController().signal })[Symbol.asyncIterator]()
    let change = await next(watching)
    while (change.type === 'bookmark') change = await next(watching)
    expect(change).toMatchObject({ type: 'put', object: { id: 'a', value: seen + 1 } })
    await watching.return?.()
  }
  await writing
  await store.close()
})
