import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { kubeconfigAccess } from '@spout/kube'
import { byLength, LONGEST_BUILD_MS, recordFault } from '@spout/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { expectNothingLost, logOf, writable } from '../conformance/kills.ts'
import { codeOf, put } from '../conformance/subject.ts'
import type { KubernetesStore } from './kubernetes-store.ts'
import { ApiProxy } from './testing/api-proxy.ts'
import { NAMESPACE, StoreCluster } from './testing/store-cluster.ts'

const SERVER_KILLS = byLength(2, 10)
const WRITER_KILLS = byLength(6, 40)
const PATIENCE = { timeout: 60_000, interval: 20 }

let bed: StoreCluster
const undo: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  bed = await StoreCluster.start()
}, LONGEST_BUILD_MS)
afterAll(async () => {
  for (const step of undo.reverse()) await step()
  await bed?.[Symbol.asyncDispose]()
}, 60_000)

const opened = async (name: string, server?: URL): Promise<KubernetesStore> => {
  const store = await bed.open({ name }, server)
  undo.push(() => store.close())
  return store
}

const proxied = async (name: string): Promise<{ readonly proxy: ApiProxy; readonly store: KubernetesStore }> => {
  const { ca } = await kubeconfigAccess(bed.cluster.kubeconfigFile)
  const proxy = await ApiProxy.start(new URL(bed.cluster.url), ca ?? '')
  undo.push(() => proxy.close())
  return { proxy, store: await opened(name, proxy.url) }
}

test('a commit whose answer was lost is acknowledged, and stored once', async () => {
  const { proxy, store } = await proxied(bed.newName())
  const from = await store.revision()
  await store.commit([put('a', 0)])
  for (let n = 1; n <= 5; n++) {
    const lost = proxy.lose('answer')
    expect(await codeOf(store.commit([put('a', n)]))).toBe('accepted')
    await lost
  }
  expect(await logOf(store, from)).toEqual(new Map([['a', [0, 1, 2, 3, 4, 5]]]))
})

test('a commit that was lost on its way is sent again, and stored once', async () => {
  const { proxy, store } = await proxied(bed.newName())
  const from = await store.revision()
  const lost = proxy.lose('question')
  expect(await codeOf(store.commit([put('a', 1)]))).toBe('accepted')
  await lost
  expect(await logOf(store, from)).toEqual(new Map([['a', [1]]]))
})

test('a commit that is carried out late, once its sender has sent it again, is refused by the server', async () => {
  const { proxy, store } = await proxied(bed.newName())
  const from = await store.revision()
  const late = proxy.lose('late')
  expect(await codeOf(store.commit([put('a', 1)]))).toBe('accepted')
  await store.commit([put('a', 2)])
  expect(await (await late)()).toBe(409)
  await store.commit([put('a', 3)])
  expect(await logOf(store, from)).toEqual(new Map([['a', [1, 2, 3]]]))
})

test('an entry of a process that stood still is refused, however often the log went round meanwhile', async () => {
  const name = bed.newName()
  const other = await bed.open({ name, slots: 8 })
  undo.push(() => other.close())
  const { proxy, store } = await proxied(name)
  await other.commit([put('b', 0)])
  await store.revision()
  const stopped = proxy.lose('late')
  const commit = codeOf(store.commit([put('a', 'of the one that stood still', { ifRevision: 'absent' })]))
  const carryOut = await stopped
  await proxy.cut()
  await other.commit([put('a', 'of the other')])
  // As far as the place of the first, a whole number of rounds later.
  for (let n = 1; n <= 23; n++) await other.commit([put('b', n)])
  expect(await carryOut()).toBe(409)
  await proxy.mend()
  expect(await commit).toBe('AlreadyExists')
  const [items, again] = [(await other.list('node')).items, (await (await opened(name)).list('node')).items]
  expect(items.map(({ value }) => value)).toEqual(['of the other', 23])
  expect(again).toEqual(items)
  expect((await store.list('node')).items).toEqual(items)
})

test('a commit that the server refused, by a store that is closed before it can look why, is told not to be stored', async () => {
  const name = bed.newName()
  const other = await opened(name)
  const { proxy, store } = await proxied(name)
  const held = proxy.lose('rest')
  const commit = codeOf(store.commit([put('a')]))
  const answerIt = await held
  await other.commit([put('b')])
  expect(await answerIt()).toBe(409)
  await store.close()
  expect(await commit).toBe('StoreUnavailable')
  expect((await other.list('node')).items.map(({ id }) => id)).toEqual(['b'])
})

test('while the server is away commits are refused at once, reads and watches go on, and closing does not wait for it', async () => {
  const name = bed.newName()
  const { proxy, store } = await proxied(name)
  const other = await opened(name)
  await store.commit([put('before')])
  const from = await store.revision()
  const watching = store.watch({ from, signal: new AbortController().signal })[Symbol.asyncIterator]()
  await watching.next()
  await proxy.cut()
  await vi.waitFor(() => expect(store.health().writable).toBe(false), PATIENCE)
  expect(store.health().reason).toMatch(/ECONNRE/)
  expect(await codeOf(store.commit([put('a')]))).toBe('StoreUnavailable')
  expect(await codeOf(store.leases.claim({ name: 'leader', holder: 'a', ttlMs: 1000 }))).toBe('StoreUnavailable')
  expect((await store.list('node')).items.map(({ id }) => id)).toEqual(['before'])
  expect(await store.revision()).toBe(from)
  await other.commit([put('meanwhile')])
  await proxy.mend()
  expect((await watching.next()).value).toMatchObject({ type: 'put', object: { id: 'meanwhile' } })
  await writable(store)

  const lost = proxy.lose('question')
  const unknown = store.commit([put('unknown')])
  const told = expect(unknown).rejects.toThrow(/^It is not known whether this is stored: /)
  await lost
  await proxy.cut()
  await store.close()
  await told
})

test(`kill -9 of the API server, ${SERVER_KILLS} times in the middle of commits: what was acknowledged is stored, once; what was refused is not`, {
  timeout: 300_000,
}, async () => {
  const name = bed.newName()
  const store = await opened(name)
  const { controlPlane } = bed.cluster
  await expectNothingLost(store, {
    ...{ count: SERVER_KILLS, commits: 100, again: () => opened(name) },
    kill: () => controlPlane.stopApiServer(),
    resume: () => controlPlane.startApiServer(),
  })
  recordFault({
    fault: 'kill -9 of the API server under a store in it',
    outcome: 'reads go on; commits whose answer was lost are looked up, others refused until it is back',
    figure: `${SERVER_KILLS} times, 0 acknowledged commits lost, 0 refused ones stored`,
  })
})

test(`kill -9 of a writing process, ${WRITER_KILLS} times: what was acknowledged is stored, and commits are whole`, {
  timeout: 300_000,
}, async () => {
  const name = bed.newName()
  const store = await bed.open({ name, slots: 16 })
  undo.push(() => store.close())
  let newest = -1
  for (let kill = 0; kill < WRITER_KILLS; kill++) {
    const program = new URL('./testing/writer-process.ts', import.meta.url).pathname
    const argv = [program, bed.cluster.kubeconfigFile, NAMESPACE, name, 'w', String(newest + 1)]
    const child: ChildProcess = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
    const closed = once(child, 'close')
    let lines = 0
    createInterface({ input: child.stdout! }).on('line', (line) => {
      newest = Number(line)
      lines++
    })
    // Somewhere in the middle of commits and snapshots.
    await vi.waitFor(() => expect(lines).toBeGreaterThan(5 + Math.random() * 30), PATIENCE)
    child.kill('SIGKILL')
    await closed
    await store.revision()
    const [one, other] = (await store.list('node')).items.map(({ value }) => Number(value))
    expect(one).toBe(other)
    // The last one may have been stored without being told.
    expect([newest, newest + 1]).toContain(one)
    newest = one!
  }
  const again = await opened(name)
  expect((await again.list('node')).items).toEqual((await store.list('node')).items)
  recordFault({
    fault: 'kill -9 of a process that writes to a store in the API of a cluster',
    outcome: 'another process has all that was acknowledged, and every commit whole',
    figure: `${WRITER_KILLS} times, 0 acknowledged commits lost`,
  })
})

test('a cluster whose objects were restored from an older copy is refused, and nothing is written to it', {
  timeout: 300_000,
}, async () => {
  const name = bed.newName()
  const store = await opened(name)
  await store.commit([put('before')])
  const backup = await bed.cluster.controlPlane.backup()
  await store.commit([put('acknowledged')])
  await bed.cluster.controlPlane.restore(backup)
  await vi.waitFor(() => expect(store.health().reason).toMatch(/lacks changes that were acknowledged/), PATIENCE)
  expect(await codeOf(store.commit([put('late')]))).toBe('StoreUnavailable')
  const anew = await opened(name)
  expect((await anew.list('node')).items.map(({ id }) => id)).toEqual(['before'])
  expect(await codeOf(anew.commit([put('after')]))).toBe('accepted')
})
