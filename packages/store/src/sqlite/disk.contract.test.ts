import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { StoreHealth } from '../store.ts'
import { SqliteStore } from './sqlite-store.ts'
import { StoreChild, type StoreChildOptions } from './testing/store-child.ts'

let directory: string
let children: StoreChild[]
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spout-disk-'))
  children = []
})
afterEach(async () => {
  await Promise.all(children.map((child) => child.kill()))
  await rm(directory, { recursive: true })
})

async function storeIn(folder: string, options?: StoreChildOptions): Promise<StoreChild> {
  const child = new StoreChild(options)
  children.push(child)
  await child.call({ op: 'open', options: { path: join(folder, 'spout.db'), probeIntervalMs: 20 } })
  return child
}
const put = (child: StoreChild, id: string, bytes = 1000) => child.call({ op: 'put', id, bytes })
const get = (child: StoreChild, id: string) => child.call({ op: 'get', id })
const health = (child: StoreChild) => child.call({ op: 'health' }) as Promise<StoreHealth>

describe('a disk whose fsync fails', () => {
  const SHIM = `
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <stdlib.h>
    #include <unistd.h>
    static int sync_by(const char *name, int fd) {
      if (access(getenv("FSYNC_FAILS"), F_OK) == 0) { errno = EIO; return -1; }
      int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
      return real(fd);
    }
    int fsync(int fd) { return sync_by("fsync", fd); }
    int fdatasync(int fd) { return sync_by("fdatasync", fd); }`

  let flag: string
  let child: StoreChild
  beforeEach(async () => {
    const [source, shim] = [join(directory, 'shim.c'), join(directory, 'shim.so')]
    await writeFile(source, SHIM)
    await promisify(execFile)('gcc', ['-shared', '-fPIC', '-o', shim, source, '-ldl'])
    flag = join(directory, 'fsync-fails')
    child = await storeIn(directory, { env: { LD_PRELOAD: shim, FSYNC_FAILS: flag } })
    await child.call({ op: 'watch' })
    await put(child, 'before')
    await writeFile(flag, '')
    await expect(put(child, 'refused')).rejects.toThrow(/StoreUnavailable.*disk I\/O error/)
  })

  const storedAfterKill = async (): Promise<readonly string[]> => {
    await child.kill()
    const store = await SqliteStore.open({ path: join(directory, 'spout.db') })
    const { items } = await store.list('node')
    await store.close()
    return items.map(({ id }) => id)
  }

  test('refuses with the reason, keeps reading, and reports it as health', async () => {
    const { writable, reason } = await health(child)
    expect([writable, reason]).toEqual([false, expect.stringContaining('disk I/O error')])
    await expect(put(child, 'again')).rejects.toThrow('StoreUnavailable')
    expect(await get(child, 'before')).toBe('before')
    expect(await get(child, 'refused')).toBeNull()
  })

  test('a refused commit does not come back after a crash', async () => {
    expect(await storedAfterKill()).toEqual(['before'])
  })

  test('accepts writes again when the disk does; watches were not interrupted', async () => {
    await rm(flag)
    await vi.waitUntil(async () => (await health(child)).writable, { timeout: 10_000 })
    await put(child, 'later')
    await vi.waitUntil(() => child.changes.length >= 2, { timeout: 10_000 })
    expect(child.changes).toEqual(['before', 'later'])
    expect(await storedAfterKill()).toEqual(['before', 'later'])
  })
})

describe.skipIf(process.getuid?.() !== 0)('a full disk', () => {
  let child: StoreChild
  let disk: string
  beforeEach(async () => {
    const folder = join(directory, 'disk')
    await mkdir(folder)
    // A mount namespace of the child's own: the mount ends with it, however the test ends.
    const mount = 'mount -t tmpfs -o size=3m tmpfs "$0" && exec "$@"'
    child = await storeIn(folder, { wrapper: ['unshare', '--mount', 'sh', '-c', mount, folder] })
    disk = join(`/proc/${child.pid}/root`, folder)
  })
  afterEach(async () => {
    await child.kill()
    expect(await readFile('/proc/self/mounts', 'utf8')).not.toContain(directory)
  })

  /** Puts until the disk refuses; returns what was taken. */
  const fill = async (): Promise<readonly string[]> => {
    for (const taken: string[] = []; ; ) {
      const id = `o${taken.length}`
      try {
        await put(child, id, 50_000)
        taken.push(id)
      } catch (error) {
        expect(String(error)).toMatch(/StoreUnavailable.*(full|I\/O)/)
        expect(await get(child, id)).toBeNull()
        return taken
      }
    }
  }

  test('refuses what does not fit, keeps reading, loses nothing, and continues when there is room', async () => {
    const ballast = join(disk, 'ballast')
    await writeFile(ballast, new Uint8Array(1_000_000))
    const taken = await fill()
    expect(taken.length).toBeGreaterThan(0)
    for (const id of taken) expect(await get(child, id)).toBe(id)
    await rm(ballast)
    await vi.waitUntil(
      () =>
        put(child, 'later', 50_000).then(
          () => true,
          () => false,
        ),
      { timeout: 10_000 },
    )
    expect(await health(child)).toEqual({ writable: true, reason: null })
    for (const id of taken) expect(await get(child, id)).toBe(id)
  })

  test('a commit that does not fit fails no other of its flush', async () => {
    const sizes = [1000, 1000, 4_000_000, 1000]
    const results = await Promise.allSettled(sizes.map((bytes, n) => put(child, `o${n}`, bytes)))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    expect(await Promise.all(sizes.map((_, n) => get(child, `o${n}`)))).toEqual(['o0', 'o1', null, 'o3'])
    expect(await health(child)).toEqual({ writable: true, reason: null })
  })
})
