import { silentLogger } from '@spout/runtime'
import { waitFor } from '@spout/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeApiServer } from '../testing/fake-api-server.ts'
import { Transport } from '../transport/transport.ts'
import { SERVICES, type Service } from '../types/index.ts'
import { byLabel, byNamespace } from './indexes.ts'
import { Reflector } from './reflector.ts'
import type { ReflectorOptions } from './reflector-options.ts'

interface Kept {
  readonly port: number
}

let server: FakeApiServer
let transport: Transport
let reflector: Reflector<Service, Kept>
let told: string[]

const service = (name: string, port = 80, extra: Partial<Service['metadata']> = {}): Service => ({
  metadata: { name, namespace: 'a', ...extra },
  spec: { ports: [{ port }] },
})
const put = (name: string, port = 80) => server.put(SERVICES, service(name, port))
const remove = (name: string) => server.delete(SERVICES, { namespace: 'a', name })

function reflect(options: Partial<ReflectorOptions<Service, Kept>> = {}): Reflector<Service, Kept> {
  reflector = new Reflector<Service, Kept>({
    transport,
    log: silentLogger(),
    resource: SERVICES,
    trim: ({ spec }) => ({ port: spec.ports?.[0]?.port ?? 0 }),
    firstRetryMs: 2,
    maxRetryMs: 20,
    relistJitterMs: 1,
    ...options,
  })
  told = []
  reflector.onChange((key) => told.push(key))
  return reflector.start()
}

const truth = () =>
  server.store
    .list('/api/v1/services')
    .map(({ metadata, ...rest }) => [
      `${metadata.namespace}/${metadata.name}`,
      { port: (rest as Service).spec.ports?.[0]?.port },
    ])
const cached = () => [...reflector.list()].sort(([a], [b]) => (a < b ? -1 : 1))
const untilEqual = () =>
  waitFor(() => JSON.stringify(cached()) === JSON.stringify(truth()), { what: 'the cache to equal the truth' })
const untilWatching = () => waitFor(() => server.watchers > 0, { what: 'a watch' })
const untilTold = (key: string) => waitFor(() => told.includes(key), { what: `${key} to be told` })

beforeEach(async () => {
  server = await FakeApiServer.start()
  transport = new Transport({ access: server.access, firstRetryMs: 2, maxRetryMs: 20 })
})
afterEach(async () => {
  await reflector?.close()
  transport.close()
  await server.stop()
})

describe('list and watch', () => {
  it('reads a list in pages, then follows the watch', async () => {
    for (let index = 0; index < 25; index++) put(`s${index}`)
    reflect({ pageSize: 10 })
    await reflector.synced
    expect(reflector.size).toBe(25)
    expect(reflector.counters).toMatchObject({ lists: 1, pages: 3 })
    expect(told).toHaveLength(25)
    put('late', 81)
    await untilTold('a/late')
    expect(reflector.get('a/late')).toEqual({ port: 81 })
    remove('s0')
    await untilEqual()
    expect(reflector.get('a/s0')).toBeUndefined()
  })

  it('keeps indexes, by namespace and by label', async () => {
    server.put(SERVICES, service('one', 80, { labels: { app: 'x' } }))
    reflect({ indexes: { namespace: byNamespace, app: byLabel('app') } })
    await reflector.synced
    await untilWatching()
    expect(reflector.keysBy('app', 'a/x')).toEqual(['a/one'])
    server.put(SERVICES, service('one', 80, { labels: { app: 'y' } }))
    await waitFor(() => reflector.keysBy('app', 'a/y').length > 0, { what: 'the new label' })
    expect(reflector.keysBy('app', 'a/x')).toEqual([])
    expect(reflector.keysBy('namespace', 'a')).toEqual(['a/one'])
    expect(() => reflector.keysBy('colour', 'red')).toThrow('no index "colour"')
  })

  it('does not report changes of trimmed fields', async () => {
    put('one')
    reflect()
    await reflector.synced
    await untilWatching()
    const version = reflector.identity('a/one')?.resourceVersion
    server.put(SERVICES, service('one', 80, { annotations: { seen: 'yes' } }))
    put('two')
    await untilTold('a/two')
    expect(told).toEqual(['a/one', 'a/two'])
    expect(reflector.identity('a/one')?.resourceVersion).not.toBe(version)
  })

  it('keeps an object as it was when trim throws, and holds one that trim never accepted', async () => {
    put('fine')
    put('broken', 13)
    reflect({
      trim: ({ spec }) => {
        const port = spec.ports?.[0]?.port ?? 0
        if (port === 13) throw new Error('unlucky')
        return { port }
      },
    })
    await reflector.synced
    expect(reflector.isHeld('a/broken')).toBe(true)
    await untilWatching()
    put('fine', 13)
    put('broken', 14)
    await untilTold('a/broken')
    expect(reflector.get('a/fine')).toEqual({ port: 80 })
    expect(reflector.isHeld('a/broken')).toBe(false)
    expect(reflector.counters.trimFailures).toBe(2)
  })

  it('survives a listener that throws', async () => {
    reflect()
    reflector.onChange(() => {
      throw new Error('listener')
    })
    await untilWatching()
    put('one')
    await untilTold('a/one')
    put('two')
    await untilTold('a/two')
  })

  it('rejects synced when closed before the first list', async () => {
    server.faults.push((_request, response) => {
      response.destroy()
      return true
    })
    reflect()
    await reflector.close()
    await expect(reflector.synced).rejects.toThrow('Service: closed before the first list')
  })
})

describe('faults', () => {
  it('restarts a list when the continue token expired, and takes nothing of the first part', async () => {
    for (let index = 0; index < 6; index++) put(`s${index}`)
    let restarted = false
    server.faults.push(({ query }) => {
      if (restarted || query['continue'] === undefined) return false
      restarted = true
      remove('s0')
      server.store.compact()
      return false
    })
    reflect({ pageSize: 4 })
    await reflector.synced
    expect(cached()).toEqual(truth())
    expect(told).not.toContain('a/s0')
    expect(reflector.counters.listRestarts).toBe(1)
  })

  it('does not act on a partial list when a page breaks', async () => {
    for (let index = 0; index < 6; index++) put(`s${index}`)
    let broken = 0
    server.faults.push(({ query }, response) => {
      if (query['continue'] === undefined || broken++ > 3) return false
      expect(told).toEqual([])
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 })
      response.write('{"kind":"List","metadata":{"resourceVersion":"1"},"items":[')
      setImmediate(() => response.destroy())
      return true
    })
    reflect({ pageSize: 4 })
    await reflector.synced
    expect(cached()).toEqual(truth())
  })

  it('reads smaller pages when one exceeds the limit', async () => {
    for (let index = 0; index < 16; index++) put(`s${index}`)
    transport.close()
    transport = new Transport({ access: server.access, maxBodyBytes: 800 })
    reflect({ pageSize: 16 })
    await reflector.synced
    expect(reflector.size).toBe(16)
    expect(reflector.counters.listRestarts).toBe(1)
  })

  it.each(['endWatches', 'cutWatches'] as const)('resumes after %s without a list', async (how) => {
    put('one')
    reflect()
    await reflector.synced
    for (const name of ['two', 'three', 'four']) {
      await untilWatching()
      server[how]()
      put(name)
      await untilTold(`a/${name}`)
    }
    expect(cached()).toEqual(truth())
    expect(reflector.counters.lists).toBe(1)
  })

  it('drops a truncated line and reads it again', async () => {
    reflect()
    await untilWatching()
    server.write('{"type":"ADDED","object":{"metadata":{"name":"half"')
    server.cutWatches()
    put('whole')
    await untilTold('a/whole')
    expect(told).toEqual(['a/whole'])
    expect(reflector.counters.lists).toBe(1)
  })

  it('lists again when the watch breaks at one version again and again', async () => {
    reflect()
    server.faults.push(({ query }, response) => {
      if (query['watch'] === undefined || reflector.counters.lists > 1) return false
      response.writeHead(200)
      response.end('this is no event\n')
      return true
    })
    await waitFor(() => reflector.counters.listsByCause.unresumable === 1, { what: 'a second list' })
    put('one')
    await untilTold('a/one')
  })

  it.each(['as an event', 'as a status'])('lists once after a 410 %s, and reports only what differs', async (how) => {
    for (const name of ['stays', 'changes', 'goes']) put(name)
    reflect()
    await reflector.synced
    await untilWatching()
    told.length = 0
    server.stallWatches()
    put('changes', 81)
    put('comes')
    remove('goes')
    server.store.compact()
    if (how === 'as a status')
      server.faults.push(({ query }, response) => {
        if (query['watch'] === undefined || reflector.counters.lists > 1) return false
        response.writeHead(410, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ kind: 'Status', code: 410, reason: 'Expired', message: 'too old' }))
        return true
      })
    server.cutWatches()
    await untilEqual()
    expect([...told].sort()).toEqual(['a/changes', 'a/comes', 'a/goes'])
    expect(reflector.counters.listsByCause).toMatchObject({ first: 1, gone: 1 })
    expect(server.listsOf(SERVICES)).toHaveLength(2)
  })

  it('leaves a stream that stalls; bookmarks are signs of life, and move the version to resume from', async () => {
    put('one')
    reflect({ silenceMs: 300 })
    await reflector.synced
    await untilWatching()
    for (let count = 0; count < 5; count++) {
      const seen = reflector.counters.bookmarks
      server.bookmark()
      await waitFor(() => reflector.counters.bookmarks > seen, { what: 'the bookmark' })
    }
    const { version } = server.store
    server.stallWatches()
    put('two')
    await untilTold('a/two')
    expect(reflector.counters.lists).toBe(1)
    const watches = server.requests.filter(({ query }) => query['watch'])
    expect(watches[0]?.query).toMatchObject({ allowWatchBookmarks: 'true' })
    expect(Number(watches[0]?.query['timeoutSeconds'])).toBeGreaterThanOrEqual(300)
    expect(watches.at(-1)?.query['resourceVersion']).toBe(String(version))
  })

  it('ignores duplicates and late events', async () => {
    const delayed: Parameters<NonNullable<Parameters<typeof server.distort>[0]>>[0][] = []
    reflect()
    await untilWatching()
    // Every event twice, and the one before it once more behind it.
    server.distort((event) => {
      const before = delayed.splice(0)
      delayed.push(event)
      return [event, event, ...before]
    })
    put('one', 1)
    put('one', 2)
    put('one', 3)
    remove('one')
    put('two', 1)
    put('two', 2)
    put('end')
    await untilTold('a/end')
    expect(cached()).toEqual([
      ['a/end', { port: 80 }],
      ['a/two', { port: 2 }],
    ])
    expect(told).toEqual(['a/one', 'a/one', 'a/one', 'a/one', 'a/two', 'a/two', 'a/end'])
    expect(reflector.counters.ignored).toBe(13)
  })

  it('does not resume after events came out of order', async () => {
    reflect()
    await untilWatching()
    server.distort(() => [])
    put('lost')
    const [event] = server.store.eventsAfter('/api/v1/services', 0)
    server.distort((next) => (event === undefined ? [next] : [next, event]))
    put('newer')
    await untilTold('a/lost')
    server.distort(null)
    server.cutWatches()
    await waitFor(() => reflector.counters.listsByCause.disorder === 1, { what: 'the list' })
  })

  it('waits as long as a 429 says, and tries again', async () => {
    let asked = 0
    server.faults.push((_request, response) => {
      if (asked++ > 2) return false
      response.writeHead(429, { 'retry-after': '0' })
      response.end()
      return true
    })
    put('one')
    reflect()
    await reflector.synced
    expect(transport.counters.throttled).toBe(3)
  })

  it('resumes after the server was away', async () => {
    put('one')
    reflect()
    await reflector.synced
    await untilWatching()
    await server.stop()
    await waitFor(() => reflector.lastError !== null, { what: 'the break' })
    put('two')
    expect(cached()).toHaveLength(1)
    await server.listen()
    await untilTold('a/two')
    expect(reflector.counters.lists).toBe(1)
    expect(reflector.lastError).toBeNull()
  })

  it('waits for a resource that does not exist yet', async () => {
    let missing = true
    server.faults.push(({ path }, response) => {
      if (!missing || path !== '/api/v1/services') return false
      response.writeHead(404, { 'content-type': 'text/plain' })
      response.end('404 page not found\n')
      return true
    })
    reflect()
    await waitFor(() => reflector.lastError, { what: 'the refusal' })
    expect(reflector.lastError?.message).toContain('404')
    missing = false
    await reflector.synced
  })
})
