import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { NodeForward, ServiceTls } from '@spout/model'
import { issueCertificate } from '@spout/testkit/tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  sampleEntry,
  sampleMember,
  samplePool,
  sampleRoute,
  sampleService,
  sampleWanted,
} from '../../testing/haproxy/sample-entry.ts'
import { tlsFiles, writeTlsFiles } from './certificates/tls-files.ts'
import { type ProcessSettings, renderConfig, renderMaps } from './configuration/config.ts'
import { initialSlots, slotTables } from './processes/proxy-slots.ts'
import { placeEntry } from './rendering/content.ts'
import { filesOf } from './rendering/member-tls.ts'
import { renderEntry } from './rendering/render.ts'
import { rowsOfGroups } from './routes/route-rows.ts'
import { MAPS } from './sections/maps.ts'
import { DEFAULT_OPTIONS } from './sections/options.ts'

const NASTY = 'x\n  stats socket /tmp/owned level admin; set maxconn global 7 # %[env(HOME)] \\ "\''

const tls = (change: Partial<ServiceTls>): ServiceTls => ({
  certificates: ['a', 'b'].map((one) => ({ id: one, contentId: one.repeat(32) })),
  ...{ unknownNames: 'default', minVersion: '1.2', alpn: ['http/1.1', 'h2'] },
  ...change,
})

const TIMEOUTS = { requestMs: 5_000, backendRequestMs: 2_000 }
const MIRRORS = [
  { pool: 1, percent: 12.5 },
  { pool: 7, percent: 100 },
  { pool: 1, percent: 0 },
]
const AUTHORIZER: NonNullable<NodeForward['authorizer']> = {
  ...{ pool: 1, method: 'GET', host: 'auth.example.com', path: '/check?a=b;c', pathPrefix: null },
  ...{ sendHeaders: ['*'], setHeaders: [{ name: 'x-from', value: 'a; "b" #{c}' }], takeHeaders: ['x-user'] },
  cookies: 'always',
  signIn: { scheme: 'https', host: null, port: 8443, path: '/in?x=y', returnTo: { parameter: 'rd', as: 'path' } },
}
const BOTH: Partial<NodeForward> = {
  authorizer: AUTHORIZER,
  basicAuthentication: { realm: 'a "b" #{c}', users: { id: 'x', contentId: 'c'.repeat(32) } as never },
  satisfy: 'any',
}
const RETRY = { attempts: 2, codes: [502, 503], backoffMs: 25 }

/** No character of it may be in a configuration. */
const HOSTILE_COOKIE = {
  name: '#{%[',
  path: '/"; use_backend x',
  sameSite: 'lax',
  secure: true,
  maxAgeSeconds: 60,
} as const
const CASES = {
  empty: [],
  http: [
    sampleWanted(
      sampleEntry(
        'web',
        [sampleService('web-80', { insertHeaders: ['x-forwarded-for', 'x-forwarded-port', 'x-forwarded-proto'] })],
        [samplePool(1, { members: [sampleMember(1, { weight: 10 }), null, sampleMember(3, { weight: 0 })] })],
      ),
    ),
  ],
  sizes: [
    sampleWanted({
      ...sampleEntry(
        'small',
        [sampleService('small-80'), sampleService('small-9100', { protocol: 'metrics', port: 9100, pool: null })],
        [samplePool(1)],
      ),
      requestSizes: { headerBytes: 4096, bodyBytes: 1_000_000 },
    }),
  ],
  metrics: [
    sampleWanted(
      sampleEntry(
        'told',
        [sampleService('told-80'), sampleService('told-9100', { protocol: 'metrics', port: 9100, pool: null })],
        [samplePool(1)],
      ),
    ),
  ],
  'tcp-proxy': [
    sampleWanted(
      sampleEntry(
        'db',
        [
          sampleService('db-1', { protocol: 'tcp-proxy', port: 5432, pool: 4 }),
          sampleService('db-2', { protocol: 'tcp-proxy', port: 5433, pool: null }),
        ],
        [
          samplePool(4, {
            mode: 'tcp-proxy',
            algorithm: 'source-ip-port',
            proxyProtocol: 'v2',
            members: [sampleMember(1, { address: 'fd00::11', port: 5432 }), sampleMember(2)],
          }),
        ],
      ),
      ['m2'],
    ),
  ],
  'tls-passthrough': [
    sampleWanted(
      sampleEntry(
        'names',
        [
          sampleService('names-443', {
            protocol: 'tls-passthrough',
            port: 443,
            pool: null,
            routes: [
              sampleRoute(
                1,
                {
                  type: 'forward',
                  pools: [
                    { pool: 2, weight: 3 },
                    { pool: null, weight: 1 },
                  ],
                },
                [{ on: 'host', compare: 'exact', values: ['a.example'], not: false }],
              ),
              sampleRoute(2, { type: 'forward', pools: [{ pool: 1, weight: 1 }] }, [
                { on: 'host', compare: 'any-labels', values: ['example'], not: false },
              ]),
            ],
          }),
          sampleService('names-444', {
            protocol: 'tls-passthrough',
            port: 444,
            timeouts: { clientMs: 50_000, connectMs: 5_000, memberMs: 50_000, inspectMs: 2_000 },
          }),
        ],
        [samplePool(1, { mode: 'tcp-proxy' }), samplePool(2, { mode: 'tcp-proxy', proxyProtocol: 'v2' })],
      ),
    ),
  ],
  'tls-shared-port': [
    sampleWanted(
      sampleEntry(
        'shared',
        [
          sampleService('shared-1', {
            ...{ protocol: 'tls-passthrough', port: 443, pool: null },
            routes: [
              sampleRoute(1, { type: 'forward', pools: [{ pool: 2, weight: 1 }] }, [
                { on: 'host', compare: 'exact', values: ['a.example'], not: false },
              ]),
            ],
          }),
          sampleService('shared-2', { protocol: 'https', port: 443, tls: tls({}) }),
        ],
        [samplePool(1), samplePool(2, { mode: 'tcp-proxy' })],
      ),
    ),
  ],
  tls: [
    sampleWanted(
      sampleEntry(
        'shop',
        [
          sampleService('shop-443', {
            protocol: 'https',
            port: 443,
            insertHeaders: ['x-forwarded-proto'],
            tls: tls({}),
          }),
          sampleService('shop-444', {
            protocol: 'https',
            port: 444,
            tls: tls({
              ...{ unknownNames: 'refuse', minVersion: '1.3', alpn: [] },
              hsts: { maxAgeSeconds: 60, includeSubdomains: true, preload: false },
            }),
          }),
        ],
        [samplePool(1)],
      ),
    ),
  ],
  'tls-with-peers': [
    sampleWanted(
      sampleEntry(
        'checked',
        [
          sampleService('checked-1', {
            protocol: 'https',
            port: 443,
            insertHeaders: ['x-ssl-client-dn', 'x-real-ip', 'x-forwarded-for'],
            tls: tls({ clients: { authorities: { id: NASTY, contentId: 'c'.repeat(32) }, required: true } }),
          }),
          sampleService('checked-2', {
            protocol: 'https',
            port: 444,
            tls: tls({
              clients: {
                authorities: { id: NASTY, contentId: 'c'.repeat(32) },
                required: false,
                revocations: { id: NASTY, contentId: 'f'.repeat(32) },
              },
            }),
          }),
        ],
        [
          samplePool(1, {
            tls: {
              authorities: { id: NASTY, contentId: 'd'.repeat(32) },
              serverName: NASTY,
              certificate: { id: NASTY, contentId: 'e'.repeat(32) },
              minVersion: '1.3',
              alpn: ['h2', 'http/1.1'],
            },
          }),
        ],
      ),
    ),
  ],
  timeouts: [
    sampleWanted(
      sampleEntry(
        'slow',
        [
          sampleService('slow-1', { timeouts: { clientMs: 3_600_000, connectMs: 1_000, memberMs: 0 } }),
          sampleService('slow-2', { port: 81 }),
        ],
        [samplePool(9, { number: 1, algorithm: 'least-connections', proxyProtocol: 'v1' })],
      ),
    ),
  ],
  backups: [
    sampleWanted(
      sampleEntry(
        'spare',
        [sampleService('spare-1')],
        [samplePool(1, { sourceAffinity: true, members: [sampleMember(1), sampleMember(2, { backup: true })] })],
      ),
      ['m1'],
    ),
  ],
  'failure-settings': [
    sampleWanted(
      sampleEntry(
        'frail',
        [sampleService('frail-1')],
        [
          samplePool(1, {
            slowStartMs: 30_000,
            drainMs: 0,
            resetOnDown: true,
            passive: { on: 'response', failures: 5, holdMs: 10_000, maxDownPercent: 50 },
            members: [sampleMember(1), sampleMember(2), sampleMember(3, { backup: true })],
          }),
        ],
      ),
      ['m2'],
    ),
  ],
  hostile: [
    sampleWanted(
      sampleEntry(
        NASTY,
        [sampleService(NASTY, { insertHeaders: ['x-forwarded-for'] })],
        [samplePool(1, { id: NASTY, members: [sampleMember(1, { id: NASTY })] })],
      ),
    ),
  ],
  sessions: [
    sampleWanted(
      sampleEntry(
        'shop',
        [80, 81, 82].map((port, at) => sampleService(`shop-${port}`, { port, pool: at + 1 })),
        [
          samplePool(1, { session: { by: 'cookie' } }),
          samplePool(2, { session: { by: 'application-cookie', cookieName: 'JSESSIONID' } }),
          samplePool(3, { session: { by: 'cookie', cookie: HOSTILE_COOKIE } }),
        ],
      ),
    ),
  ],
  routes: [
    sampleWanted(
      sampleEntry(
        'shop',
        [
          sampleService('shop-80', {
            routes: [
              sampleRoute(8, { ...{ type: 'forward', pools: [{ pool: 1, weight: 1 }] }, ...BOTH }, [
                { on: 'path', compare: 'elements', values: ['/staff'], not: false },
              ]),
              sampleRoute(7, { type: 'forward', pools: [{ pool: 1, weight: 1 }], authorizer: AUTHORIZER }, [
                { on: 'path', compare: 'elements', values: ['/private'], not: false },
              ]),
              sampleRoute(6, { type: 'forward', pools: [{ pool: 1, weight: 1 }], mirrors: MIRRORS }, [
                { on: 'path', compare: 'elements', values: ['/copied'], not: false },
              ]),
              sampleRoute(1, { type: 'forward', pools: [{ pool: 1, weight: 1 }], timeouts: TIMEOUTS, retry: RETRY }, [
                { on: 'host', compare: 'exact', values: ['shop.example.com'], not: false },
                { on: 'path', compare: 'elements', values: ["/a;b'"], not: false },
              ]),
              sampleRoute(
                2,
                {
                  type: 'forward',
                  pools: [
                    { pool: 1, weight: 2 },
                    { pool: 7, weight: 1 },
                  ],
                },
                [{ on: 'host', compare: 'one-label', values: ['example.com'], not: false }],
              ),
              sampleRoute(3, { type: 'respond', code: 403 }, [
                { on: 'host', compare: 'any-labels', values: ['example.com'], not: false },
                { on: 'method', values: ['POST'], not: false },
              ]),
              sampleRoute(
                4,
                {
                  type: 'redirect',
                  code: 308,
                  scheme: 'https',
                  host: 'new.example.com',
                  port: 8443,
                  path: '/?a=b',
                  pathPrefix: null,
                },
                [{ on: 'path', compare: 'exact', values: ['/old'], not: false }],
              ),
              sampleRoute(5, { type: 'respond', code: 410 }, [
                { on: 'header', name: 'x-canary', compare: 'regex', values: ['^a+$'], not: true },
                { on: 'source', values: ['192.0.2.0/24', '2001:db8::/32'], not: false },
              ]),
            ],
          }),
        ],
        [samplePool(1)],
      ),
    ),
  ],
  mixed: [
    sampleWanted(
      sampleEntry(
        'l4',
        [sampleService('tcp-1', { protocol: 'tcp' }), sampleService('udp-1', { protocol: 'udp' })],
        [samplePool(1, { mode: 'l4' })],
      ),
    ),
  ],
} as const

const issued = issueCertificate({ names: ['a.example'] })
const pem = issued.certificate + issued.key

describe.each(Object.entries(CASES))('%s', (name, wanted) => {
  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'spout-haproxy-'))
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  const settings = (base: string): ProcessSettings => ({
    uid: 65_534,
    gid: 65_534,
    chroot: `${base}/root`,
    statsSocket: `${base}/s1`,
    addresses: ['127.0.0.1', '::1'],
    firstPort: 20_000,
    maxConnections: 1_000,
    bufferBytes: DEFAULT_OPTIONS.bufferBytes,
    sourceShare: 0.5,
    requestWithinMs: 10_000,
    leaveAfterMs: 60_000,
    luaPrograms: [
      ...['own-requests.lua', 'http-requests.lua', 'body-limits.lua', 'authorizers.lua', 'mirrors.lua'],
      'tls-names.lua',
    ].map((program) => `${base}/${program}`),
    mapPath: (map) => `${base}/${map}.map`,
    certificatePath: (contentId) => `${base}/${contentId}.pem`,
    clientsPath: (slot) => `${base}/f${slot}.ca`,
    revocationsPath: (slot) => `${base}/f${slot}.crl`,
    listPath: (slot) => `${base}/f${slot}.list`,
  })

  const plan = (base: string) => {
    const slots = slotTables(initialSlots(), DEFAULT_OPTIONS)
    const entries = wanted.map((one) => placeEntry(renderEntry(one), slots))
    return { settings: settings(base), frontends: slots.frontends.slots, backends: slots.backends.slots, entries }
  }

  it('renders the entry', async () => {
    const rendered = wanted.map((one) => renderEntry(one))
    const shown = rendered.map((entry) => ({
      ...entry,
      frontends: entry.frontends.map(({ routes, ...frontend }) => ({
        ...frontend,
        ...(routes && { routes: { wildcards: routes.wildcards > 0, rows: [...rowsOfGroups(routes)] } }),
      })),
    }))
    const text = `${JSON.stringify(shown, null, 2)}\n`
    await expect(text).toMatchFileSnapshot(`testdata/${name}.entry.json`)
  })

  it('renders the configuration and the maps', async () => {
    const { entries, ...rest } = plan('/run/d7')
    const maps = renderMaps(entries)
    const text = [renderConfig({ ...rest, entries }), ...MAPS.map((map) => `==> ${map}.map\n${maps[map]}`)].join('\n')
    await expect(text).toMatchFileSnapshot(`testdata/${name}.cfg`)
    for (const word of ['owned', 'set maxconn', 'env(HOME)']) expect(text).not.toContain(word)
  })

  it('is accepted by haproxy', async () => {
    const process = plan(directory)
    const files = tlsFiles(directory, directory)
    const known = process.entries.flatMap(({ frontends, backends }) => [
      ...frontends.flatMap(({ certificates }) => certificates?.named ?? []),
      ...backends.flatMap(({ tls }) => (tls === undefined ? [] : filesOf(tls))),
    ])
    for (const contentId of known) writeFileSync(files.certificate(contentId), pem)
    await writeTlsFiles(files, process.frontends, process.entries)
    const maps = renderMaps(process.entries)
    for (const map of MAPS) writeFileSync(`${directory}/${map}.map`, maps[map])
    for (const program of process.settings.luaPrograms)
      copyFileSync(new URL(`processes/${basename(program)}`, import.meta.url), program)
    writeFileSync(`${directory}/haproxy.cfg`, renderConfig(process))
    // Exit status and warnings: a configuration of ours gives none.
    const said = execFileSync('/usr/sbin/haproxy', ['-c', '-q', '-dW', '-f', `${directory}/haproxy.cfg`], {
      encoding: 'utf8',
    })
    expect(said).toBe('')
  })
})
