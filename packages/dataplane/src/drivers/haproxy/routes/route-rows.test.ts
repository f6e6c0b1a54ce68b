import type { NodeRoute, RouteCondition } from '@spout/model'
import { byLength } from '@spout/testkit/long-tests'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  sampleEntry,
  samplePool,
  sampleRoute,
  sampleService,
  sampleWanted,
} from '../../../testing/haproxy/sample-entry.ts'
import { isTlsCommand } from '../certificates/tls-command.ts'
import { type Command, commandText, follow } from '../commands/command.ts'
import { planChanges } from '../commands/plan-changes.ts'
import { initialSlots, slotTables } from '../processes/proxy-slots.ts'
import { contentOf, NOTHING_PLACED, type PlacedEntry, type ProxyContent, placeEntry } from '../rendering/content.ts'
import { renderEntry } from '../rendering/render.ts'
import { DEFAULT_OPTIONS } from '../sections/options.ts'
import { KnownRoutes } from './known-routes.ts'
import { bucketsOf, renderRoutes, rowsOfGroups } from './route-rows.ts'

const onHost = (value: string): RouteCondition => ({ on: 'host', compare: 'exact', values: [value], not: false })
const onPath = (value: string): RouteCondition => ({ on: 'path', compare: 'prefix', values: [value], not: false })
const respond = (code: number): NodeRoute['action'] => ({ type: 'respond', code })
const forward = (...weights: number[]): NodeRoute['action'] => ({
  type: 'forward',
  pools: weights.map((weight, at) => ({ pool: at + 1, weight })),
})

const timed = (backendRequestMs: number, action: NodeRoute['action']): NodeRoute['action'] =>
  action.type === 'forward' ? { ...action, timeouts: { requestMs: null, backendRequestMs } } : action

/** @param routes null for a listener without any */
const placed = (routes: readonly NodeRoute[] | null, known = new KnownRoutes()): PlacedEntry =>
  placeEntry(
    renderEntry(
      sampleWanted(
        sampleEntry(
          'web',
          [sampleService('web-80', routes === null ? {} : { routes })],
          [samplePool(1), samplePool(2)],
        ),
      ),
      (...given) => known.render(...given),
    ),
    slotTables(initialSlots(), DEFAULT_OPTIONS),
  )

const settledIn = ({ frontends }: PlacedEntry) =>
  new Map(frontends.flatMap(({ slot, rows }) => (rows === undefined ? [] : [[slot, rows] as const])))

const commandsFor = (before: PlacedEntry, want: PlacedEntry): readonly Command[] => {
  const { raise, turn, lower } = planChanges(contentOf([before]), before, want)
  return [...raise, ...turn, ...lower]
}

/** The lookups of a request, as the rules of a frontend make them. */
function answerOf(content: ProxyContent, host: string, path: string): string {
  const values = content.frontends.get(0)
  const rows = content.rows.get(0)
  const paths = rows?.get('paths') ?? new Map<string, string>()
  if (values?.extras === undefined || !values.backend?.startsWith('routes')) return values?.backend ?? 'none'
  const hex = `${Buffer.from(path).toString('hex').toUpperCase()}2F.`
  const longest = (key: string): string | undefined => {
    let found = ''
    for (const prefix of paths.keys()) if (prefix.length > found.length && key.startsWith(prefix)) found = prefix
    return paths.get(found)
  }
  const labels = values.backend === 'routes-wildcards' ? host.split('.').slice(1) : []
  const names = labels.map((_, at) => labels.slice(at).join('.'))
  const classes = [host, ...names.slice(0, 1).map((name) => `1:${name}`), ...names.map((name) => `n:${name}`), ':']
  const target = classes.map((name) => longest(`${name}/${hex}`)).find((found) => found !== undefined) ?? 'default'
  if (target === 'default') return values.defaults ?? 'none'
  if (target.startsWith('l'))
    return JSON.stringify(['to', 'attempt'].map((key) => rows?.get('limits')?.get(`${target}/${key}`)))
  if (target.startsWith('w'))
    return JSON.stringify([...(rows?.get('shares') ?? [])].filter(([key]) => key.startsWith(target)))
  if (target.startsWith('a')) return String(rows?.get('answers')?.get(`${target}/code`))
  return target
}

describe('routes in maps', () => {
  test('put no text of a tenant into a command, whatever the model let through', () => {
    const files = {
      map: (map: string): string => `/run/d7/${map}.map`,
      tls: { certificate: (contentId: string): string => `/run/certificates/${contentId}.pem` },
    }
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), fc.string({ minLength: 8 }), (host, path, target) => {
        // Hosts are keys of maps.
        fc.pre(!host.includes(target))
        const routes = [
          sampleRoute(
            1,
            { type: 'redirect', code: 301, scheme: null, host: null, port: null, path: target, pathPrefix: null },
            [onPath(`/${path}`)],
          ),
          sampleRoute(2, forward(1), [onHost(host)]),
          sampleRoute(3, forward(1), [
            { on: 'header', name: target, compare: 'contains', values: [host, path], not: true },
            { on: 'query', name: path, compare: 'exact', values: [target], not: false },
          ]),
        ]
        const commands = commandsFor(NOTHING_PLACED, placed(routes))
        const texts: string[] = []
        try {
          for (const command of commands) if (!isTlsCommand(command)) texts.push(commandText(command, files))
        } catch (error) {
          // A host name that the model should have refused is refused once more.
          expect(error).toBeInstanceOf(RangeError)
          expect(host).not.toMatch(/^[a-z0-9_.-]+$/)
        }
        for (const text of texts) {
          expect(text).toMatch(/^[a-z]+ (map|server) [^\n]+\n([A-Za-z0-9/._:[\]-]+ [A-Za-z0-9/._:[\]-]+\n\n)?$/)
          expect(text).not.toMatch(/[;"'\\#\r\0]/)
          expect(text).not.toContain(target)
        }
      }),
    )
  })

  test('need no command where nothing differs, and only those of the route that does', () => {
    const shop = sampleRoute(1, forward(1), [onHost('shop.example.com')])
    const blog = sampleRoute(2, forward(1), [onHost('blog.example.com')])
    expect(commandsFor(placed([shop, blog]), placed([shop, blog]))).toEqual([])
    expect(commandsFor(placed([shop]), placed([shop, blog]))).toEqual([
      { do: 'add-map', map: 'paths', frontend: 0, key: 'blog.example.com/', value: 'b0' },
    ])
    expect(commandsFor(placed([shop, blog]), placed([blog]))).toEqual([
      { do: 'del-map', map: 'paths', frontend: 0, key: 'shop.example.com/' },
    ])
  })

  test('are in place before a listener turns to them, and removed after it turned back', () => {
    const bare = placed(null)
    const routed = placed([sampleRoute(1, forward(1), [onHost('a.example.com')])])
    const turns = (commands: readonly Command[]): readonly string[] =>
      commands.map((one) => ('map' in one ? `${one.do} ${one.map} ${'value' in one ? one.value : ''}` : one.do))
    expect(turns(commandsFor(bare, routed))).toEqual([
      'add-map extras yes',
      'add-map paths b0',
      'add-map paths default',
      'add-map defaults b0',
      'set-map backend routes',
    ])
    expect(turns(commandsFor(routed, bare))).toEqual([
      'set-map backend b0',
      'del-map paths ',
      'del-map paths ',
      'del-map defaults ',
      'del-map extras ',
    ])
  })

  test('answer a request by the old table or the new one at every moment of a change', () => {
    const hosts = fc
      .tuple(fc.constantFrom('exact', 'one-label', 'any-labels'), fc.constantFrom('a', 'b.a', 'c.b.a'))
      .map(([compare, value]): RouteCondition => ({ on: 'host', compare, values: [value], not: false }))
    const paths = fc.constantFrom('/', '/a', '/a/b', '/a/b/c', '/ab')
    const action = fc.oneof(
      fc.constantFrom(forward(1), forward(0, 1), forward(2, 1), timed(1, forward(1)), timed(2, forward(2, 1))),
      fc.constantFrom(403, 404).map(respond),
    )
    const condition = fc.oneof(hosts, paths.map(onPath))
    const table = fc.option(
      fc.array(
        fc
          .tuple(action, fc.array(condition, { maxLength: 2 }))
          .map(([to, conditions]) => sampleRoute(1, to, conditions)),
        { maxLength: 5 },
      ),
      { freq: 8 },
    )
    fc.assert(
      fc.property(table, table, (first, second) => {
        const [before, after] = [placed(first), placed(second)]
        const content = contentOf([before])
        const requests = ['a', 'b.a', 'c.b.a', 'd.c.b.a', 'x'].flatMap((host) =>
          ['/', '/a', '/a/b', '/a/b/c', '/a/b/c/d', '/ab', '/x'].map((path) => [host, path] as const),
        )
        const old = requests.map(([host, path]) => answerOf(contentOf([before]), host, path))
        const next = requests.map(([host, path]) => answerOf(contentOf([after]), host, path))
        for (const command of commandsFor(before, after)) {
          follow(content, command)
          for (const [at, [host, path]] of requests.entries()) {
            const now = answerOf(content, host, path)
            if (now !== old[at] && now !== next[at])
              expect.fail(`${host}${path} after ${JSON.stringify(command)}: ${now}, not ${old[at]} or ${next[at]}`)
          }
        }
        expect(content).toEqual(contentOf([after]))
      }),
      { numRuns: byLength(60, 300) },
    )
  })

  test('of a changed table are rendered and put in place as those of a new one', () => {
    const route = fc
      .tuple(
        fc.constantFrom('a', 'b.a', 'c.b.a', null),
        fc.constantFrom('exact', 'exact', 'any-labels'),
        fc.constantFrom('/', '/a', '/a/b', null),
        fc.constantFrom(forward(1), forward(2, 1), timed(1, forward(2, 1)), respond(404), respond(403)),
        fc.boolean(),
      )
      .map(([host, compare, path, to, not]) =>
        sampleRoute(1, to, [
          ...(host === null
            ? []
            : [{ on: 'host', compare, values: [host], not: not && path === null } as RouteCondition]),
          ...(path === null ? [] : [onPath(path)]),
        ]),
      )
    const step = fc.record({ at: fc.nat(), remove: fc.nat({ max: 2 }), add: fc.array(route, { maxLength: 2 }) })
    fc.assert(
      fc.property(fc.array(route, { maxLength: 8 }), fc.array(step, { minLength: 1, maxLength: 6 }), (first, steps) => {
        const known = new KnownRoutes()
        let routes: readonly NodeRoute[] = first
        let before = placed(routes, known)
        const content = contentOf([before])
        let settled = settledIn(before)
        for (const { at, remove, add } of steps) {
          routes = routes.toSpliced(at % (routes.length + 1), remove, ...add)
          const after = placed(routes, known)
          const { raise, turn, lower } = planChanges(content, before, after, settled)
          for (const command of [...raise, ...turn, ...lower]) follow(content, command)
          expect(content).toEqual(contentOf([placed(routes)]))
          before = after
          settled = settledIn(before)
        }
      }),
      { numRuns: byLength(60, 300) },
    )
  })

  test('of one route are all that a change of it in a settled table looks at', () => {
    const known = new KnownRoutes()
    const shop = sampleRoute(1, forward(1), [onHost('shop.example.com')])
    const before = placed([shop], known)
    const content = contentOf([before])
    // Rows that nobody looks at, since the table is settled.
    content.rows.get(0)?.get('paths')?.set('shop.example.com/', 'lost')
    const after = placed([shop, sampleRoute(2, forward(1), [onHost('blog.example.com')])], known)
    const put = { do: 'add-map', map: 'paths', frontend: 0, key: 'blog.example.com/', value: 'b0' }
    expect(planChanges(content, before, after, settledIn(before)).turn).toEqual([put])
    const repaired = { do: 'set-map', map: 'paths', frontend: 0, key: 'shop.example.com/', value: 'b0' }
    expect(planChanges(content, before, after).turn).toEqual([repaired, put])
  })

  test('take as many buckets as the weights need', () => {
    expect(bucketsOf([1])).toEqual([1])
    expect(bucketsOf([50, 50])).toEqual([1, 1])
    expect(bucketsOf([90, 10, 0])).toEqual([9, 1, 0])
    expect(bucketsOf([255, 1])).toEqual([255, 1])
    expect(bucketsOf([999_999, 1])).toEqual([255, 1])
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 1, maxLength: 16 }), (weights) => {
        fc.pre(weights.some((weight) => weight > 0))
        const buckets = bucketsOf(weights)
        const [all, sum] = [buckets, weights].map((list) => list.reduce((total, one) => total + one, 0)) as [
          number,
          number,
        ]
        expect(all).toBeLessThanOrEqual(256)
        for (const [at, weight] of weights.entries()) {
          expect(buckets[at]! > 0).toBe(weight > 0)
          expect(Math.abs(buckets[at]! / all - weight / sum)).toBeLessThan(0.07)
        }
      }),
    )
  })

  test('are rendered once for each set of backends, and add their backends each time', () => {
    const known = new KnownRoutes()
    const routes = [sampleRoute(1, forward(1, 1)), sampleRoute(2, respond(404))]
    const asked: number[] = []
    const render = (first: string, named = false) =>
      known.render(
        routes,
        (pool) => {
          asked.push(pool)
          return pool === 1 ? first : 'other'
        },
        'web-80',
        named,
      )
    const rendered = render('one')
    expect(render('one')).toBe(rendered)
    expect(asked).toEqual([1, 2, 1, 2])
    const other = render('two')
    expect(JSON.stringify([...rowsOfGroups(other)])).not.toBe(JSON.stringify([...rowsOfGroups(rendered)]))
    expect(other).toEqual(renderRoutes(routes, (pool) => (pool === 1 ? 'two' : 'other')))
    const named = render('two', true)
    expect(named).toEqual(renderRoutes(routes, (pool) => (pool === 1 ? 'two' : 'other'), null, true))
    expect(rowsOfGroups(other).some(({ map }) => map === 'routes')).toBe(false)
    const ids = [...rowsOfGroups(named)].flatMap(({ map, key, to }) =>
      map === 'routes' && key.endsWith('/id') && 'text' in to ? [to.text] : [],
    )
    expect(ids).toEqual([routes[0]!.id])
  })

  test('keep tests under names of their content, in rows that a command can carry', () => {
    const pattern = '(foo|bar|baz|[a-z]{3,30})\\.(com|org|net)$'
    const condition: RouteCondition = { on: 'path', compare: 'regex', values: [pattern], not: false }
    const render = () =>
      renderRoutes([sampleRoute(1, respond(410), [condition]), sampleRoute(2, respond(404), [condition])], () => null)
    const rows = [...rowsOfGroups(render())]
    const tests = rows.filter(({ map }) => map === 'tests')
    const keys = tests.map(({ key }) => key.replace(/(?<=^.)[0-9a-f]{16}/, ''))
    expect(keys.toSorted()).toEqual(['c', 'r/0', 'r/1', 'r/classes', 'r/ends', 'r/width', 't/0', 't/1'])
    for (const { to } of tests) expect('text' in to && to.text).toMatch(/^[0-9a-z.:-]{1,8000}$/)
    expect([...rowsOfGroups(render())]).toEqual(rows)
  })

  test('cannot be made of a table that the control plane refuses', () => {
    const routes = Array.from({ length: 600 }, (_, at) => [
      sampleRoute(at, forward(1), [onHost(`h${at}.example.com`), onPath('/a')]),
      sampleRoute(at, forward(1), [onPath(`/p${at}`)]),
    ]).flat()
    expect(() => renderRoutes(routes, () => 'b')).toThrow(RangeError)
  })
})
