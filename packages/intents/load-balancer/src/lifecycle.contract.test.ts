import { LONGEST_BUILD_MS } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FINALIZER } from './names.ts'
import { type LoadBalancerBed, openLoadBalancerBed } from './testing/load-balancer-bed.fixture.ts'

let bed: LoadBalancerBed
let running: Awaited<ReturnType<LoadBalancerBed['start']>>
beforeAll(async () => {
  bed = await openLoadBalancerBed()
  running = await bed.start()
}, LONGEST_BUILD_MS)
afterAll(() => bed?.close())

const accepted = (said: Readonly<Record<string, string>>) => said['Accepted'] === 'True Accepted'
const idle = () => bed.until('an empty queue', () => running.controller.counters.queued === 0)
const addresses = (name: string) =>
  bed
    .documentOf(name)
    ?.pools[0]?.members.map(({ address, port }) => `${address}:${port}`)
    .join()

describe('LoadBalancer objects on a real API server', () => {
  test('a whole document: created, programmed when its nodes say so, changed, and gone with its object', async () => {
    await bed.create('whole', {
      listeners: [
        {
          ...{ name: 'http', protocol: 'http', port: 80, defaultPool: 'web', connectionLimit: 500 },
          insertHeaders: ['x-forwarded-for'],
          timeouts: { clientMs: 10_000 },
          routes: [
            {
              name: 'api',
              conditions: [
                { type: 'path', compare: 'elements', values: ['/api'] },
                { type: 'header', compare: 'exact', name: 'x-version', values: ['2'], not: true },
              ],
              action: {
                type: 'forward',
                pools: [
                  { pool: 'web', weight: 9 },
                  { pool: 'next', weight: 1 },
                ],
                filters: [{ type: 'request-headers', set: [{ name: 'x-from', value: 'spout' }] }],
              },
            },
            { name: 'old', conditions: [], action: { type: 'redirect', code: 301, path: '/new' } },
          ],
        },
        { name: 'raw', protocol: 'tcp', port: 2222, defaultPool: 'raw' },
      ],
      pools: [
        {
          ...{ name: 'web', protocol: 'http', algorithm: 'least-connections', persistence: { type: 'cookie' } },
          members: [{ address: '10.128.0.1', port: 8080, weight: 3, backup: false }],
          monitor: { type: 'http', intervalMs: 2000, http: { path: '/health' } },
          passiveCheck: { type: 'response', failures: 3 },
        },
        { name: 'next', protocol: 'http', members: [{ address: '10.128.0.2', port: 8080 }] },
        { name: 'raw', protocol: 'tcp', members: [{ address: '10.128.0.3', port: 22 }] },
      ],
    })
    const made = await bed.when('whole', 'accepted', accepted)
    const document = bed.documentOf('whole')!
    expect(made.metadata.finalizers).toContain(FINALIZER)
    expect(made.status).toMatchObject({ id: document.id, addresses: [document.vips[0]?.address] })
    expect(document.listeners).toMatchObject([
      { port: 80, connectionLimit: 500, timeouts: { clientMs: 10_000, memberMs: 50_000 } },
      { port: 2222, protocol: 'tcp' },
    ])
    const [api, old] = document.listeners[0]!.routes
    expect(api).toMatchObject({
      conditions: [
        { on: 'path', compare: 'elements' },
        { on: 'header', name: 'x-version', not: true },
      ],
      action: { pools: [{ weight: 9 }, { weight: 1 }], filters: [{ set: [{ name: 'x-from' }] }] },
    })
    expect(old?.action).toMatchObject({ code: 301, path: '/new' })
    expect(document.pools[0]).toMatchObject({
      ...{ algorithm: 'least-connections', persistence: { type: 'cookie' } },
      members: [{ weight: 3 }],
      monitor: { http: { path: '/health' } },
      passiveCheck: { on: 'response', failures: 3 },
    })
    expect(document.vips[0]?.address).toMatch(/^198\.51\.100\./)

    bed.confirm(document)
    await bed.when('whole', 'programmed', (said) => said['Programmed'] === 'True Programmed')
    await bed.change('whole', { addresses: [{ family: 'IPv4' }], listeners: [] })
    await bed.until('no listener', () => bed.documentOf('whole')?.listeners.length === 0)
    expect(bed.documentOf('whole')?.vips).toEqual(document.vips)

    await bed.remove('whole')
    await bed.until('the object is gone', async () => (await bed.get('whole').catch(() => null)) === null)
    expect(bed.documentOf('whole')).toBeUndefined()
  })

  test('whether somebody answers behind it is a condition, with an event when nobody does and when somebody does again', async () => {
    await bed.create('answers', {
      listeners: [{ protocol: 'tcp', port: 80, defaultPool: 'web' }],
      pools: [{ name: 'web', protocol: 'tcp', members: [{ address: '10.128.0.1', port: 8080 }] }],
    })
    await bed.when('answers', 'accepted', accepted)
    const document = bed.documentOf('answers')!
    const up = { state: 'yes', reason: 'Serving', message: '', membersUp: 1, members: 1 } as const
    const down = { ...up, state: 'no', reason: 'AllMembersDown', message: 'No member answers.', membersUp: 0 } as const
    bed.confirm(document, { serving: up })
    await bed.when('answers', 'serves', (said) => said['Serving'] === 'True Serving')
    bed.confirm(document, { serving: down })
    await bed.when('answers', 'does not', (said) => said['Serving'] === 'False AllMembersDown')
    bed.confirm(document, { serving: up })
    await bed.when('answers', 'serves again', (said) => said['Serving'] === 'True Serving')
    const told = () => [...new Set(bed.told.filter((event) => event.startsWith('answers ')))]
    await bed.until('the event', () => told().length === 3)
    expect(told()).toEqual(['answers Normal Programmed', 'answers Warning AllMembersDown', 'answers Normal Serving'])
  })

  test('members of a Service, of Services by label and of an EndpointSlice follow them', async () => {
    await bed.createService('one', { app: 'web' })
    await bed.slice('one-1', ['10.128.1.1'], 'one')
    await bed.slice('by-hand', ['10.128.2.1', '10.128.1.1'], null)
    await bed.create('sources', {
      pools: [
        {
          ...{ name: 'web', protocol: 'http' },
          members: [{ address: '10.128.0.9', port: 8080 }],
          membersFrom: [
            { service: { name: 'one', port: 80 } },
            { services: { matchLabels: { app: 'web' }, port: 'http' } },
            { endpointSlice: { name: 'by-hand', port: 'http' } },
          ],
        },
      ],
    })
    await bed.when('sources', 'accepted', accepted)
    expect(addresses('sources')).toBe('10.128.0.9:8080,10.128.1.1:8080,10.128.2.1:8080')

    await bed.slice('one-1', ['10.128.1.1', '10.128.1.2'], 'one')
    await bed.until('the endpoint', () => addresses('sources')?.includes('10.128.1.2:8080'))
    await bed.createService('two', { app: 'web' })
    await bed.slice('two-1', ['10.128.3.1'], 'two')
    await bed.until('the second Service', () => addresses('sources')?.includes('10.128.3.1:8080'))
    await bed.slice('by-hand', [], null)
    await bed.until('none of the slice', () => addresses('sources')?.includes('10.128.2.1') === false)
    expect(addresses('sources')).toBe('10.128.0.9:8080,10.128.1.1:8080,10.128.1.2:8080,10.128.3.1:8080')
  })

  test('certificates come from Secrets of the namespace', async () => {
    await bed.create('tls', {
      listeners: [{ protocol: 'https', port: 443, defaultPool: 'web', tls: { secretNames: ['cert'] } }],
      pools: [{ name: 'web', protocol: 'http' }],
    })
    await bed.when('tls', 'said', (said) => said['Accepted']?.startsWith('False') === true)
    expect(bed.documentOf('tls')?.listeners).toEqual([])
    await bed.secret('cert', 'shop.example.org')
    await bed.when('tls', 'accepted', accepted)
    expect(bed.documentOf('tls')?.listeners[0]?.tls?.certificateIds).toHaveLength(1)
  })

  test('what the schema cannot see is said by field, and the rest of the object is served', async () => {
    await bed.create('partly', {
      listeners: [{ protocol: 'http', port: 80, defaultPool: 'web' }],
      pools: [
        {
          ...{ name: 'web', protocol: 'http', members: [{ address: '10.128.0.1', port: 80 }] },
          membersFrom: [{ service: { name: 'nobody', port: 80 } }],
        },
      ],
    })
    const partly = await bed.when('partly', 'said', (said) => said['Accepted'] === 'False BackendNotFound')
    expect(partly.status?.conditions?.[0]?.message).toBe(
      'spec.pools[0].membersFrom[0].service: There is no Service shop/nobody.',
    )
    expect(addresses('partly')).toBe('10.128.0.1:80')
    await bed.createService('nobody')
    await bed.when('partly', 'mended by itself', accepted)

    await bed.create('refused', {
      pools: [{ name: 'web', protocol: 'tcp', members: [{ address: '127.0.0.1', port: 80 }] }],
    })
    const refused = await bed.when('refused', 'said', (said) => said['Programmed']?.startsWith('False') === true)
    expect(refused.status?.conditions?.[0]?.message).toContain('spec.pools[0].members[0].address: ')
    expect(bed.documentOf('refused')).toBeUndefined()
    await bed.change('refused', {
      pools: [{ name: 'web', protocol: 'tcp', members: [{ address: '10.128.0.1', port: 80 }] }],
    })
    await bed.when('refused', 'mended', accepted)

    // A refused change leaves what is served as it is.
    await bed.change('refused', {
      pools: [{ name: 'web', protocol: 'tcp', members: [{ address: '169.254.169.254', port: 80 }] }],
    })
    await bed.when('refused', 'said', (said) => said['Accepted']?.startsWith('False') === true)
    expect(addresses('refused')).toBe('10.128.0.1:80')
    await bed.remove('refused')
  })

  test('what routes, pools and listeners learnt last can be said, too', async () => {
    const forward = (more: object) => ({ type: 'forward', pools: [{ pool: 'web' }], ...more })
    const path = (text: string) => [{ type: 'path', compare: 'elements', values: [text] }]
    const cookie = { name: 'shop', path: '/cart', sameSite: 'none', secure: true, maxAgeSeconds: 60 }
    const edits = { type: 'request-headers', set: [{ name: 'x-from', value: 'canary' }] }
    const routes = [
      { name: 'body', conditions: path('/body'), action: forward({ maxBodyBytes: 0 }) },
      {
        ...{ name: 'clients', conditions: path('/clients') },
        action: forward({ clientRate: { requests: 5 }, clientConcurrency: 3, retry: { attempts: 2 } }),
      },
      {
        ...{ name: 'shares', conditions: path('/shares') },
        action: {
          ...forward({ answered: { code: 500, weight: 2 } }),
          pools: [
            { pool: 'web', weight: 7 },
            { pool: 'grpc', filters: [edits] },
          ],
        },
      },
      { name: 'moved', action: { type: 'redirect', code: 308, prefix: { from: '/old', to: '/new' } } },
    ]
    const limits = { allowedCidrs: ['203.0.113.0/24'], latencies: true, routeFigures: true, connectionLimit: 9 }
    await bed.secret('known', 'known.example.org')
    await bed.create('newest', {
      enabled: false,
      listeners: [
        { protocol: 'http', port: 80, defaultPool: 'web', routes, ...limits, accessLog: { format: 'combined' } },
        {
          ...{ protocol: 'https', port: 443, defaultPool: 'web' },
          tls: {
            secretNames: ['known'],
            separateHosts: ['*.example.org', 'known.example.org'],
            unknownNames: 'refuse',
          },
        },
        { protocol: 'tls', port: 8443, defaultPool: 'raw', tls: { secretNames: ['known'] } },
      ],
      pools: [
        { name: 'web', protocol: 'http', persistence: { type: 'cookie', cookie } },
        { name: 'grpc', protocol: 'http', http2: true },
        { name: 'raw', protocol: 'tcp-proxy' },
      ],
    })
    await bed.when('newest', 'accepted', accepted)
    const { enabled, listeners, pools } = bed.documentOf('newest')!
    expect(enabled).toBe(false)
    expect(pools).toMatchObject([
      { persistence: { type: 'cookie', cookie } },
      { http2: true },
      { protocol: 'tcp-proxy' },
    ])
    expect(pools[0]).not.toHaveProperty('http2')
    const [body, clients, shares, moved] = listeners[0]?.routes ?? []
    expect(body?.action).toMatchObject({ maxBodyBytes: 0 })
    expect(clients?.action).toMatchObject({
      clientRate: { requests: 5, perSeconds: 1, burst: 0 },
      ...{ clientConcurrency: 3, retry: { attempts: 2, codes: [], backoffMs: 0 } },
    })
    expect(shares?.action).toMatchObject({
      answered: { code: 500, weight: 2 },
      pools: [{ weight: 7 }, { weight: 1, filters: [edits] }],
    })
    expect(moved?.action).toMatchObject({ prefix: { from: '/old', to: '/new' } })
    expect(listeners[0]).toMatchObject({ ...limits, accessLog: { format: 'combined' } })
    expect(listeners[1]?.tls).toMatchObject({ separateHosts: ['*.example.org', 'known.example.org'] })
    expect(listeners[2]).toMatchObject({ protocol: 'tls', tls: { unknownNames: 'default' } })
    await bed.change('newest', { enabled: null })
    await bed.until('enabled', () => bed.documentOf('newest')?.enabled === true)
    await bed.remove('newest')
  })

  test('security groups come and go with the object', async () => {
    const group = await bed.createSecurityGroup('office')
    await bed.create('guarded', { securityGroupIds: [group] })
    await bed.when('guarded', 'accepted', accepted)
    expect(bed.documentOf('guarded')?.securityGroupIds).toEqual([group])
    await bed.change('guarded', { securityGroupIds: null })
    await bed.until('none', () => bed.documentOf('guarded')?.securityGroupIds?.length === 0)
    await bed.change('guarded', { securityGroupIds: ['00000000-0000-4000-8000-000000000000'] })
    const refused = await bed.when('guarded', 'said', (said) => said['Accepted']?.startsWith('False') === true)
    expect(refused.status?.conditions?.[0]?.message).toContain('spec.securityGroupIds[0]: ')
    await bed.remove('guarded')
  })

  test('the server itself refuses what contradicts itself', async () => {
    const refusal = (spec: object) => bed.create('never', spec).then(String, (error: Error) => error.message)
    expect(await refusal({ listeners: [{ protocol: 'tcp', port: 80, defaultPool: 'none' }] })).toContain(
      'defaultPool of a listener is not the name of a pool',
    )
    expect(await refusal({ listeners: [{ protocol: 'https', port: 443 }] })).toContain(
      'tls is required for protocols https and tls',
    )
    expect(await refusal({ listeners: [{ protocol: 'https', port: 443, tls: {} }] })).toContain('names neither')
    expect(await refusal({ listeners: [{ protocol: 'quic', port: 443 }] })).toContain('Unsupported value')
    expect(
      await refusal({
        pools: [
          { name: 'a', protocol: 'tcp' },
          { name: 'a', protocol: 'tcp' },
        ],
      }),
    ).toContain('Duplicate')
    expect(await refusal({ pools: [{ name: 'a', protocol: 'tcp', membersFrom: [{}] }] })).toContain('exactly one of')
    const tls = { secretNames: ['cert'], separateHosts: ['a.example'] }
    expect(await refusal({ listeners: [{ protocol: 'tls', port: 443, tls }] })).toContain(
      'separateHosts is for protocol',
    )
    const pool = (more: object) => refusal({ pools: [{ name: 'a', protocol: 'http', ...more }] })
    expect(await pool({ http2: true, tls: {} })).toContain('http2 is for members')
    expect(await pool({ persistence: { type: 'source-ip', cookie: { name: 'a' } } })).toContain('cookie is for type')
    expect(await pool({ persistence: { type: 'cookie', cookieName: 'a' } })).toContain(
      'cookieName is required for type',
    )
    expect(await pool({ persistence: { type: 'application-cookie' } })).toContain('cookieName is required for type')
    expect(await pool({ persistence: { type: 'cookie', cookie: { path: 'a;b' } } })).toContain('cookie.path')
    const route = (action: object) =>
      refusal({ listeners: [{ protocol: 'http', port: 80, routes: [{ name: 'a', action }] }] })
    expect(await route({ type: 'forward', maxBodyBytes: -1 })).toContain('maxBodyBytes')
    expect(await route({ type: 'forward', answered: { code: 418, weight: 1 } })).toContain('answered.code')
  })

  test('a change by others is undone; what is as wanted is not written, also after a restart', async () => {
    await bed.create('kept', {
      pools: [{ name: 'web', protocol: 'http', members: [{ address: '10.128.0.1', port: 80 }] }],
    })
    await bed.when('kept', 'accepted', accepted)
    const { id } = bed.documentOf('kept')!
    await bed.tamper(id, { pools: [] })
    await bed.until('undone', () => bed.documentOf('kept')?.pools.length === 1)
    await idle()
    const before = bed.documents()
    await running.stop()
    running = await bed.start()
    await bed.until('ready', () => running.controller.ready)
    await idle()
    expect(bed.documents()).toEqual(before)
    expect(running.documentWrites.filter((one) => one === 'create')).toEqual([])
  })

  test('a second family joins and leaves; an address of its choice is kept', async () => {
    await bed.create('chosen', { addresses: [{ family: 'IPv4', address: '198.51.100.77' }] })
    await bed.when('chosen', 'accepted', accepted)
    expect(bed.documentOf('chosen')?.vips.map(({ address }) => address)).toEqual(['198.51.100.77'])
    await bed.create('twin', { addresses: [{ family: 'IPv4', address: '198.51.100.77' }] })
    const twin = await bed.when('twin', 'said', (said) => said['Programmed']?.startsWith('False') === true)
    expect(twin.status?.conditions?.[0]?.message).toContain('spec.addresses')
    const wrong = await bed.create('wrong', { addresses: [{ family: 'IPv6', address: '198.51.100.78' }] })
    expect(wrong.metadata.uid).toBeDefined()
    await bed.when('wrong', 'said', (said) => said['Accepted'] === 'False InvalidAddress')
  })
})
