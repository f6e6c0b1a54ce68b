import { silentLogger } from '@spout/runtime'
import { waitFor } from '@spout/testkit'
import { byLength } from '@spout/testkit/long-tests'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FakeApiServer, type Fault } from '../testing/fake-api-server.ts'
import type { StoredEvent } from '../testing/fake-store.ts'
import { Transport } from '../transport/transport.ts'
import { SERVICES, type Service } from '../types/index.ts'
import { Reflector } from './reflector.ts'
import { isOlder } from './resource-version.ts'

type Step =
  | { readonly do: 'put' | 'remove'; readonly key: number }
  | { readonly do: 'swapped'; readonly key: number; readonly other: number }
  | { readonly do: 'replay'; readonly key: number }
  | { readonly do: 'refuse'; readonly status: number; readonly times: number }
  | { readonly do: 'end' | 'cut' | 'stall' | 'compact' | 'bookmark' | 'half line' | 'nonsense' | 'gone' | 'error' }
  | { readonly do: 'restart' }
  | { readonly do: 'settle' | 'watch' }

const key = fc.nat({ max: 4 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), key }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('swapped' as const), key, other: key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('replay' as const), key }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('refuse' as const),
      status: fc.constantFrom(401, 410, 429, 500, 503),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('end', 'cut', 'compact', 'bookmark', 'half line', 'nonsense', 'gone', 'error'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('stall' as const, 'restart' as const) }) },
  { weight: 9, arbitrary: fc.record({ do: fc.constantFrom('settle' as const, 'watch' as const, 'watch' as const) }) },
)

const COLLECTION = '/api/v1/services'

class Run {
  readonly #server: FakeApiServer
  readonly #transport: Transport
  readonly #reflector: Reflector<Service, number>
  readonly #lastVersion = new Map<string, string>()
  readonly backwards: string[] = []
  #port = 1

  private constructor(server: FakeApiServer) {
    this.#server = server
    this.#transport = new Transport({ access: server.access, firstRetryMs: 1, maxRetryMs: 5 })
    this.#reflector = new Reflector<Service, number>({
      transport: this.#transport,
      log: silentLogger(),
      resource: SERVICES,
      trim: ({ spec }) => spec.ports?.[0]?.port ?? 0,
      pageSize: 2,
      silenceMs: 100,
      firstRetryMs: 1,
      maxRetryMs: 5,
      relistJitterMs: 1,
    })
    this.#reflector.onChange((changed) => this.#look(changed))
    this.#reflector.start()
  }

  static async create(): Promise<Run> {
    return new Run(await FakeApiServer.start())
  }

  /** The versions seen of a key never go back. */
  #look(changed: string): void {
    const version = this.#reflector.identity(changed)?.resourceVersion
    if (version === undefined) return
    if (isOlder(version, this.#lastVersion.get(changed) ?? version)) this.backwards.push(`${changed} ${version}`)
    this.#lastVersion.set(changed, version)
  }

  async take(step: Step): Promise<void> {
    const server = this.#server
    switch (step.do) {
      case 'put':
        return this.#put(step.key)
      case 'remove':
        return server.delete(SERVICES, { namespace: 'a', name: `s${step.key}` })
      case 'swapped': {
        const first: StoredEvent[] = []
        server.distort((event) => {
          if (first.length > 0) return [event, ...first]
          first.push(event)
          return []
        })
        // One watch alone: with several, each would keep the other's event.
        if (server.watchers !== 1) server.distort(null)
        this.#put(step.key)
        this.#put(step.other)
        return server.distort(null)
      }
      case 'replay': {
        const old = server.store.eventsAfter(COLLECTION, 0).slice(-3).reverse()
        server.distort((event) => [event, ...old, event])
        this.#put(step.key)
        return server.distort(null)
      }
      case 'refuse': {
        let left = step.times
        const fault: Fault = (_request, response) => {
          if (left-- <= 0) return false
          response.writeHead(step.status, { 'content-type': 'application/json', 'retry-after': '0' })
          response.end(JSON.stringify({ kind: 'Status', code: step.status }))
          return true
        }
        server.faults.push(fault)
        return
      }
      case 'end':
        return server.endWatches()
      case 'cut':
        return server.cutWatches()
      case 'stall':
        return server.stallWatches()
      case 'compact':
        return server.store.compact()
      case 'bookmark':
        return server.bookmark()
      case 'half line':
        server.write('{"type":"DELETED","object":{"metadata":{"name":"s1","names')
        return server.cutWatches()
      case 'nonsense':
        return server.write('nonsense\n')
      case 'gone':
        return server.write('{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n')
      case 'error':
        return server.write('{"type":"ERROR","object":{"kind":"Status","code":500,"reason":"InternalError"}}\n')
      case 'restart':
        await server.stop()
        return server.listen()
      case 'settle':
        return this.untilEqual()
      case 'watch':
        await waitFor(() => server.watchers > 0, { what: 'a watch', everyMs: 1 })
    }
  }

  /** Confirms held deletions: in this test every absence is a deletion. */
  async untilEqual(): Promise<void> {
    await waitFor(
      () => {
        this.#reflector.confirm()
        return JSON.stringify(this.#cached()) === JSON.stringify(this.#truth())
      },
      { what: 'the cache to equal the truth', everyMs: 2, timeoutMs: 10_000 },
    )
  }

  async close(): Promise<void> {
    await this.#reflector.close()
    this.#transport.close()
    await this.#server.stop()
  }

  #put(index: number): void {
    const metadata = { name: `s${index}`, namespace: 'a' }
    this.#server.put(SERVICES, { metadata, spec: { ports: [{ port: this.#port++ }] } })
  }

  #cached() {
    return [...this.#reflector.list()].sort(([a], [b]) => (a < b ? -1 : 1))
  }

  #truth() {
    return this.#server.store
      .list(COLLECTION)
      .map((object) => [`a/${object.metadata.name}`, (object as Service).spec.ports?.[0]?.port])
  }
}

it('after any sequence of faults the cache equals the server, and no key went back', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const run = await Run.create()
      try {
        for (const step of steps) await run.take(step)
        await run.untilEqual()
        expect(run.backwards).toEqual([])
      } finally {
        await run.close()
      }
    }),
    { numRuns: byLength(30, 100), endOnFailure: true },
  )
})
