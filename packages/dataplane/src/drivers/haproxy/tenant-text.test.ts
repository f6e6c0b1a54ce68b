import type { LoadBalancerEntry, NodeForward, NodeRoute, RouteCondition, RouteFilter } from '@spout/model'
import { codePoint } from '@spout/testkit/code-point'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  sampleEntry,
  sampleMember,
  samplePool,
  sampleRoute,
  sampleService,
  sampleWanted,
} from '../../testing/haproxy/sample-entry.ts'
import { isTlsCommand } from './certificates/tls-command.ts'
import { commandText } from './commands/command.ts'
import { planChanges } from './commands/plan-changes.ts'
import { type ProcessSettings, renderConfig, renderMaps } from './configuration/config.ts'
import { initialSlots, slotTables } from './processes/proxy-slots.ts'
import { contentOf, NOTHING_PLACED, placeEntry } from './rendering/content.ts'
import { renderEntry } from './rendering/render.ts'
import { MAPS } from './sections/maps.ts'
import { DEFAULT_OPTIONS } from './sections/options.ts'

/**
 * Every text of a tenant that an entry has, whatever the model lets through: none of it is in a configuration, a map or
 * a command. Names of hosts and TLS names are left out, which are keys and arguments of a narrow alphabet
 * (`route-rows.test.ts`, `member-tls.lab.test.ts`), and so are regular expressions, which become automata.
 */

const MARK = 'zzEVILzz'

const settings: ProcessSettings = {
  uid: 65_534,
  gid: 65_534,
  chroot: '/run/d7/root',
  statsSocket: '/run/d7/s1',
  addresses: ['127.0.0.1', '::1'],
  firstPort: 20_000,
  maxConnections: 1_000,
  bufferBytes: DEFAULT_OPTIONS.bufferBytes,
  sourceShare: 0.5,
  requestWithinMs: 10_000,
  leaveAfterMs: 60_000,
  luaPrograms: ['/run/d7/http-requests.lua'],
  mapPath: (map) => `/run/d7/${map}.map`,
  certificatePath: (contentId) => `/run/d7/${contentId}.pem`,
  clientsPath: (slot) => `/run/d7/f${slot}.ca`,
  revocationsPath: (slot) => `/run/d7/f${slot}.crl`,
  listPath: (slot) => `/run/d7/f${slot}.list`,
}

/** An entry that has a text wherever one may be. */
function entryWith(text: string): LoadBalancerEntry {
  const not = false
  const conditions: readonly RouteCondition[] = [
    ...(['exact', 'elements', 'prefix'] as const).map(
      (compare): RouteCondition => ({ on: 'path', compare, values: [`/${text}`], not }),
    ),
    ...(['ends-with', 'contains'] as const).map(
      (compare): RouteCondition => ({ on: 'path', compare, values: [text], not }),
    ),
    ...(['prefix', 'ends-with', 'contains'] as const).map(
      (compare): RouteCondition => ({ on: 'host', compare, values: [text], not }),
    ),
    ...(['header', 'cookie', 'query', 'client-name'] as const).flatMap((on) =>
      (['exact', 'prefix', 'ends-with', 'contains'] as const).map(
        (compare): RouteCondition => ({ on, name: text, compare, values: [text], not }),
      ),
    ),
  ]
  const edits = { set: [{ name: text, value: text }], add: [{ name: text, value: text }], remove: [text] }
  const filters: readonly RouteFilter[] = [
    { type: 'request-headers', ...edits },
    { type: 'response-headers', ...edits },
    { type: 'rewrite', host: text, path: `/${text}`, prefix: { from: `/${text}`, to: `/${text}` } },
    {
      ...{ type: 'cors', credentials: true, maxAgeSeconds: 5 },
      ...{ origins: [text], methods: [text], headers: [text], exposeHeaders: [text] },
    } as RouteFilter,
  ]
  const forward: NodeForward = {
    type: 'forward',
    pools: [{ pool: 1, weight: 1, filters }],
    filters,
    timeouts: { requestMs: 1_000, backendRequestMs: 500 },
    retry: { attempts: 2, codes: [503], backoffMs: 5 },
    mirrors: [{ pool: 2, percent: 50 }],
  }
  const redirect = (change: object): NodeRoute['action'] => ({
    ...{ type: 'redirect', code: 301, scheme: 'https', host: null, port: null, path: null, pathPrefix: null },
    ...change,
  })
  const routes: readonly NodeRoute[] = [
    ...conditions.map((condition, at) => sampleRoute(at, forward, [condition])),
    sampleRoute(100, redirect({ path: `/${text}?${text}` })),
    sampleRoute(101, redirect({ pathPrefix: `/${text}` }), [
      { on: 'path', compare: 'elements', values: [`/x${text}`], not },
    ]),
  ]
  const cookie = { name: text, path: `/${text}`, sameSite: 'lax', secure: true, maxAgeSeconds: 60 } as const
  return sampleEntry(
    text,
    [
      sampleService('web-80', { routes, accessLog: { format: text, projectId: text } }),
      sampleService('web-81', { port: 81, pool: 2 }),
    ],
    [
      samplePool(1, { id: text, session: { by: 'cookie', cookie }, members: [sampleMember(1, { id: text })] }),
      samplePool(2, { session: { by: 'application-cookie', cookieName: text } }),
    ],
  )
}

const written = (text: string): readonly string[] => {
  const slots = slotTables(initialSlots(), DEFAULT_OPTIONS)
  const placed = placeEntry(renderEntry(sampleWanted(entryWith(text))), slots)
  const config = renderConfig({
    ...{ settings, frontends: slots.frontends.slots, backends: slots.backends.slots },
    entries: [placed],
  })
  const maps = renderMaps([placed])
  const { raise, turn, lower } = planChanges(contentOf([NOTHING_PLACED]), NOTHING_PLACED, placed)
  const files = {
    map: (map: string): string => `/run/d7/${map}.map`,
    tls: { certificate: (contentId: string): string => `/run/certificates/${contentId}.pem` },
  }
  const commands = [...raise, ...turn, ...lower].flatMap((command) =>
    isTlsCommand(command) ? [] : [commandText(command, files)],
  )
  return [config, ...MAPS.map((map) => maps[map]), ...commands]
}

test('no text of a tenant is in a configuration, a map or a command', () => {
  const lines = written('x').length
  expect(lines).toBeGreaterThan(100)
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: codePoint })), (text) => {
      const evil = `${MARK}${text}`
      for (const one of written(evil)) expect(one).not.toContain(MARK)
    }),
    { numRuns: 15 },
  )
})
