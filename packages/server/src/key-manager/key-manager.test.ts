import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { FakeClock } from '@spout/runtime/fake-clock'
import { createLogger } from '@spout/runtime/logger'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Method, openTestBed, type TestBed } from '../testing/test-bed.ts'

const CANARY = 'a-payload-that-nobody-else-sees'
const CANARY_BASE64 = Buffer.from(CANARY).toString('base64')
const NOBODY = '11111111-2222-4333-8444-555555555555'

let bed: TestBed
let clock: FakeClock
let projectId: string
const tokens: Record<string, string> = {}
/** Everything that was logged. */
let logged = ''

beforeAll(async () => {
  clock = new FakeClock(new Date())
  const write = (line: string) => {
    logged += line
  }
  const log = createLogger({ name: 'test', level: 'trace', destination: { write } })
  bed = await openTestBed(clock, undefined, { log })
  projectId = (await bed.admission.createProject({ name: 'one', description: '' })).id
  const other = (await bed.admission.createProject({ name: 'two', description: '' })).id
  for (const role of ['member', 'reader', 'balancer'] as const)
    tokens[role] = (await bed.login(role, projectId, role)).token
  tokens.stranger = (await bed.login('stranger', other, 'member')).token
  tokens.admin = await bed.adminLogin()
})
afterAll(() => bed.close())

interface Request {
  readonly who?: string
  readonly type?: string
  readonly accept?: string
  readonly encoding?: string
}

/** The answer as text, with its JSON if it has any. */
async function call(
  method: Method,
  url: string,
  body?: unknown,
  { who = 'member', type, accept, encoding }: Request = {},
) {
  const reply = await bed.app.inject({
    method,
    url: `/key-manager/v1${url}`,
    headers: {
      'x-auth-token': tokens[who] ?? '',
      ...(accept !== undefined && { accept }),
      ...(encoding !== undefined && { 'content-encoding': encoding }),
      ...(body !== undefined && { 'content-type': type ?? 'application/json' }),
    },
    ...(body !== undefined && {
      payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    }),
  })
  const isJson = String(reply.headers['content-type']).startsWith('application/json')
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer it checks itself
  const json: any = isJson ? reply.json() : null
  return { status: reply.statusCode, text: reply.body, json, headers: reply.headers }
}

const pathOf = (ref: string): string => new URL(ref).pathname.replace('/key-manager/v1', '')
/** Stores a secret. @returns its path */
async function store(fields: object = {}): Promise<string> {
  const { status, json, headers } = await call('POST', '/secrets', {
    ...{ name: 'one', payload: CANARY, payload_content_type: 'text/plain', ...fields },
  })
  expect(status, JSON.stringify(json)).toBe(201)
  expect(headers.location).toBe(json.secret_ref)
  return pathOf(json.secret_ref)
}
const contained = async (fields: object): Promise<string> => {
  const { status, json } = await call('POST', '/containers', fields)
  expect(status, JSON.stringify(json)).toBe(201)
  return pathOf(json.container_ref)
}
const refOf = (secretPath: string) => `http://anywhere.example/key-manager/v1${secretPath}`

describe('a secret', () => {
  test('is stored, shown without its payload, read, and deleted', async () => {
    const secret = await store({ secret_type: 'passphrase', bit_length: 8, expiration: '2099-01-31T12:00:00' })
    const { json, text } = await call('GET', secret, undefined, { who: 'reader' })
    expect(json).toMatchObject({
      ...{ name: 'one', status: 'ACTIVE', secret_type: 'passphrase', bit_length: 8, algorithm: null },
      ...{ expiration: '2099-01-31T12:00:00', content_types: { default: 'text/plain' } },
      secret_ref: expect.stringMatching(/\/key-manager\/v1\/secrets\/[0-9a-f-]{36}$/),
    })
    expect(text).not.toContain(CANARY)
    const read = await call('GET', `${secret}/payload`, undefined, { accept: 'text/plain' })
    expect(read).toMatchObject({ status: 200, text: CANARY })
    expect(read.headers['content-type']).toBe('text/plain')
    // Older clients read the payload this way, before it had a path.
    expect(await call('GET', secret, undefined, { accept: 'text/plain' })).toMatchObject({ text: CANARY })
    expect((await call('DELETE', secret)).status).toBe(204)
    expect(await call('GET', secret)).toMatchObject({
      status: 404,
      json: { code: 404, title: 'Not Found', description: 'Secret not found.' },
    })
  })

  test('of bytes comes as base64 and is answered as it was', async () => {
    const bytes = Buffer.from([0x30, 0x82, 0, 255, 10, 13])
    const secret = await store({
      ...{ payload: bytes.toString('base64'), payload_content_type: 'application/octet-stream' },
      payload_content_encoding: 'base64',
    })
    const url = `/key-manager/v1${secret}/payload`
    const headers = { 'x-auth-token': tokens.member ?? '', accept: 'application/octet-stream' }
    const reply = await bed.app.inject({ method: 'GET', url, headers })
    expect(reply.rawPayload).toEqual(bytes)
    expect(await call('GET', `${secret}/payload`, undefined, { accept: 'text/plain' })).toMatchObject({ status: 406 })
    expect(await call('GET', `${secret}/payload`, undefined, { accept: 'image/png' })).toMatchObject({ status: 406 })
  })

  test('gets its payload later, once', async () => {
    const { json } = await call('POST', '/secrets', { name: 'two steps' })
    const secret = pathOf(json.secret_ref)
    expect((await call('GET', secret)).json).not.toHaveProperty('content_types')
    expect(await call('GET', `${secret}/payload`)).toMatchObject({
      status: 404,
      json: { description: 'Not Found. Sorry but your secret has no payload.' },
    })
    expect(await call('PUT', secret, CANARY, { type: 'text/plain' })).toMatchObject({ status: 204, text: '' })
    expect(await call('GET', `${secret}/payload`)).toMatchObject({ text: CANARY })
    expect(await call('PUT', secret, 'another', { type: 'text/plain' })).toMatchObject({
      status: 409,
      json: { description: 'Secret already has data, cannot modify it.' },
    })
    expect(await call('GET', `${secret}/payload`)).toMatchObject({ text: CANARY })
  })

  test('gets bytes later as base64, too', async () => {
    const { json } = await call('POST', '/secrets', {})
    const secret = pathOf(json.secret_ref)
    const request = { type: 'application/octet-stream', encoding: 'base64' }
    expect((await call('PUT', secret, CANARY_BASE64, request)).status).toBe(204)
    expect(await call('GET', `${secret}/payload`)).toMatchObject({ text: CANARY })
  })

  test('that expired is gone', async () => {
    const soon = new Date(clock.now().getTime() + 60_000).toISOString().replace('Z', '')
    const secret = await store({ name: 'short', expiration: soon })
    expect((await call('GET', secret)).status).toBe(200)
    await clock.advance(61_000)
    for (const url of [secret, `${secret}/payload`]) expect((await call('GET', url)).status).toBe(404)
    expect((await call('GET', '/secrets?name=short')).json).toMatchObject({ secrets: [], total: 0 })
  })

  test('is listed in pages', async () => {
    for (let index = 0; index < 3; index++) await store({ name: 'paged' })
    const { json } = await call('GET', '/secrets?name=paged&limit=2')
    expect(json).toMatchObject({ secrets: [{ name: 'paged' }, { name: 'paged' }], total: 3 })
    expect(json).not.toHaveProperty('previous')
    const next = (await call('GET', `/secrets${new URL(json.next).search}`)).json
    expect(next.secrets).toHaveLength(1)
    expect(next).not.toHaveProperty('next')
    expect(new URL(next.previous).searchParams.get('offset')).toBe('0')
    expect((await call('GET', '/secrets?limit=0&name=paged')).json).toMatchObject({ secrets: [], total: 3 })
  })
})

describe('who may', () => {
  test('others do not see it, operators of other projects included', async () => {
    const secret = await store()
    for (const who of ['stranger', 'admin']) {
      for (const [method, url] of [
        ['GET', secret],
        ['GET', `${secret}/payload`],
        ['GET', `${secret}/acl`],
        ['DELETE', secret],
      ] as const)
        expect(await call(method, url, undefined, { who })).toMatchObject({ status: 404 })
      expect(await call('PUT', secret, 'x', { who, type: 'text/plain' })).toMatchObject({ status: 404 })
      expect((await call('GET', '/secrets', undefined, { who })).json.secrets).toEqual([])
      const stolen = { type: 'generic', secret_refs: [{ name: 'a', secret_ref: refOf(secret) }] }
      expect(await call('POST', '/containers', stolen, { who })).toMatchObject({ status: 404 })
    }
    expect((await call('GET', `${secret}/payload`)).text).toBe(CANARY)
  })

  test('a reader sees that it is there, and no payload', async () => {
    const secret = await store()
    expect((await call('GET', secret, undefined, { who: 'reader' })).status).toBe(200)
    for (const [method, url, body] of [
      ['GET', `${secret}/payload`, undefined],
      ['DELETE', secret, undefined],
      ['POST', '/secrets', {}],
    ] as const) {
      const { status, text } = await call(method, url, body, { who: 'reader' })
      expect(status).toBe(403)
      expect(text).not.toContain(CANARY)
    }
    expect(await call('GET', secret, undefined, { who: 'reader', accept: 'text/plain' })).toMatchObject({ status: 403 })
  })

  test.each(['balancer', 'nobody'])('%s may nothing', async (who) => {
    const status = who === 'nobody' ? 401 : 403
    expect(await call('GET', '/secrets', undefined, { who })).toMatchObject({ status })
    expect(await call('POST', '/secrets', {}, { who })).toMatchObject({ status })
  })
})

describe('a container', () => {
  test('of a certificate names its secrets, and keeps who uses it', async () => {
    const [certificate, key] = [await store(), await store()]
    const secret_refs = [
      { name: 'certificate', secret_ref: refOf(certificate) },
      { name: 'private_key', secret_ref: refOf(key) },
    ]
    const container = await contained({ name: 'tls', type: 'certificate', secret_refs })
    expect((await call('GET', container, undefined, { who: 'reader' })).json).toMatchObject({
      ...{ name: 'tls', type: 'certificate', status: 'ACTIVE', consumers: [] },
      secret_refs: [
        { name: 'certificate', secret_ref: expect.stringContaining(certificate) },
        { name: 'private_key', secret_ref: expect.stringContaining(key) },
      ],
    })
    const consumer = { name: 'octavia', URL: 'https://lb.example/1' }
    expect((await call('POST', `${container}/consumers`, consumer)).json).toMatchObject({ consumers: [consumer] })
    expect((await call('POST', `${container}/consumers`, consumer)).json.consumers).toHaveLength(1)
    expect((await call('GET', `${container}/consumers`)).json).toMatchObject({ consumers: [consumer], total: 1 })
    expect((await call('DELETE', `${container}/consumers`, consumer)).json).toMatchObject({ consumers: [] })
    expect(await call('DELETE', `${container}/consumers`, consumer)).toMatchObject({ status: 404 })
    expect((await call('DELETE', key)).status).toBe(204)
    expect((await call('GET', container)).json.secret_refs).toMatchObject([{ name: 'certificate' }])
    expect((await call('DELETE', container)).status).toBe(204)
    expect((await call('GET', certificate)).status).toBe(200)
  })

  test('of any kind is changed, and listed by its type', async () => {
    const [one, two] = [await store(), await store()]
    const container = await contained({ type: 'generic', name: 'bag', secret_refs: [{ secret_ref: refOf(one) }] })
    const named = { name: 'second', secret_ref: refOf(two) }
    expect(await call('POST', `${container}/secrets`, named)).toMatchObject({ status: 201 })
    expect(await call('POST', `${container}/secrets`, named)).toMatchObject({ status: 409 })
    expect((await call('GET', '/containers?type=generic&name=bag')).json).toMatchObject({
      total: 1,
      containers: [{ secret_refs: [{ secret_ref: expect.any(String) }, { name: 'second' }] }],
    })
    expect(await call('DELETE', `${container}/secrets`, named)).toMatchObject({ status: 204 })
    expect(await call('DELETE', `${container}/secrets`, named)).toMatchObject({ status: 404 })
    expect((await call('GET', container)).json.secret_refs).toHaveLength(1)
  })

  test.each<[string, (ref: string, other: string) => object, number, string]>([
    ['no type', () => ({}), 400, 'type'],
    [
      'a secret of nobody',
      () => ({ type: 'generic', secret_refs: [{ name: 'a', secret_ref: refOf(`/secrets/${NOBODY}`) }] }),
      404,
      "Secret provided for 'a' doesn't exist.",
    ],
    [
      'a reference to nothing',
      () => ({ type: 'generic', secret_refs: [{ secret_ref: 'http://x/../../etc' }] }),
      400,
      'a secret_ref ends in the id of a secret',
    ],
    [
      'no certificate',
      (ref) => ({ type: 'certificate', secret_refs: [{ name: 'private_key', secret_ref: ref }] }),
      400,
      'The minimum required reference names are certificate for certificate type',
    ],
    [
      'another name',
      (ref) => ({ type: 'certificate', secret_refs: [{ name: 'cert', secret_ref: ref }] }),
      400,
      'reference names are allowed for certificate type',
    ],
    [
      'a name twice',
      (ref, other) => ({
        type: 'generic',
        secret_refs: [
          { name: 'a', secret_ref: ref },
          { name: 'a', secret_ref: other },
        ],
      }),
      400,
      'Duplicate reference names are not allowed',
    ],
    [
      'a secret twice',
      (ref) => ({
        type: 'generic',
        secret_refs: [
          { name: 'a', secret_ref: ref },
          { name: 'b', secret_ref: ref },
        ],
      }),
      400,
      'Duplicate secret ids are not allowed',
    ],
  ])('with %s is refused', async (_, fields, status, description) => {
    const before = bed.view.list('secretContainer').length
    const body = fields(refOf(await store()), refOf(await store()))
    expect(await call('POST', '/containers', body)).toMatchObject({
      status,
      json: { code: status, description: expect.stringContaining(description) },
    })
    expect(bed.view.list('secretContainer')).toHaveLength(before)
  })
})

describe('bad input', () => {
  const text = { payload: CANARY, payload_content_type: 'text/plain' }
  const bytes = { payload_content_type: 'application/octet-stream', payload_content_encoding: 'base64' }
  test.each<[string, unknown, number, string]>([
    ['no object', [], 400, 'must be an object'],
    [
      'a payload without its type',
      { payload: CANARY },
      400,
      "If 'payload' is supplied, 'payload_content_type' must also be supplied.",
    ],
    ['a type without a payload', { payload_content_type: 'text/plain' }, 400, 'payload must be provided'],
    ['an empty payload', { ...text, payload: ' \n' }, 400, "If 'payload' specified, must be non empty"],
    ['another type', { ...text, payload_content_type: 'text/html' }, 400, 'payload_content_type is not one of'],
    [
      'another character set',
      { ...text, payload_content_type: 'text/plain; charset=utf-16' },
      400,
      'payload_content_type is not one of',
    ],
    ['text as base64', { ...text, payload_content_encoding: 'base64' }, 400, 'must be left out'],
    ['bytes as text', { ...text, payload_content_type: 'application/octet-stream' }, 400, 'must be base64'],
    ['broken base64', { ...bytes, payload: `${CANARY}!` }, 400, 'Invalid payload for payload_content_encoding'],
    ['too many bytes', { ...bytes, payload: Buffer.alloc(20_001).toString('base64') }, 413, 'at most 20000 bytes'],
    ['a time that was', { ...text, expiration: '2001-01-01T00:00:00Z' }, 400, "'expiration' is before current time"],
    ['no time', { ...text, expiration: 'tomorrow' }, 400, "Invalid date for 'expiration'"],
    ['no day', { ...text, expiration: '2099-13-45T00:00:00Z' }, 400, "Invalid date for 'expiration'"],
    ['another kind', { ...text, secret_type: 'song' }, 400, 'secret_type'],
    ['a long name', { ...text, name: 'n'.repeat(256) }, 400, 'name'],
    ['a key of no bits', { ...text, bit_length: 0 }, 400, 'bit_length'],
  ])('%s is refused, and the payload not quoted', async (_, body, status, description) => {
    const before = bed.view.list('secret').length
    const answer = await call('POST', '/secrets', body)
    expect(answer).toMatchObject({ status, json: { code: status, description: expect.stringContaining(description) } })
    expect(answer.text).not.toContain(CANARY)
    expect(bed.view.list('secret')).toHaveLength(before)
  })

  test.each<[string, unknown, Request, number]>([
    ['JSON', { a: 1 }, {}, 415],
    ['another type', 'x', { type: 'text/html' }, 415],
    ['nothing', '', { type: 'text/plain' }, 400],
    ['too much', 'x'.repeat(20_001), { type: 'text/plain' }, 413],
    ['far too much', 'x'.repeat(200_000), { type: 'text/plain' }, 413],
    ['text as base64', CANARY_BASE64, { type: 'text/plain', encoding: 'base64' }, 400],
    ['compressed bytes', 'x', { type: 'application/octet-stream', encoding: 'gzip' }, 400],
    ['broken base64', '!', { type: 'application/octet-stream', encoding: 'base64' }, 400],
  ])('a payload that is %s is refused', async (_, body, request, status) => {
    const { json } = await call('POST', '/secrets', {})
    const secret = pathOf(json.secret_ref)
    expect(await call('PUT', secret, body, request)).toMatchObject({ status, json: { code: status } })
    expect((await call('GET', secret)).json).not.toHaveProperty('content_types')
  })

  test.each([
    ['/secrets/..%2f..%2fetc%2fpasswd', 404],
    ['/secrets/x%00y', 404],
    [`/secrets/${NOBODY}/payload`, 404],
    ['/secrets?limit=-1', 400],
    ['/secrets?limit=1&limit=2', 400],
    ['/secrets?created=gt:2020-01-01', 400],
    ['/containers/none', 404],
    ['/orders', 404],
  ])('%s is %i', async (url, status) => {
    expect(await call('GET', url)).toMatchObject({ status, json: { code: status } })
  })

  test('more secrets than the quota allows', async () => {
    const { limits, used } = bed.admission.quotaOf(projectId)
    await bed.admission.setQuota(projectId, { secrets: used.secrets + 1 })
    const both = await Promise.all([call('POST', '/secrets', {}), call('POST', '/secrets', {})])
    expect(both.map(({ status }) => status).sort()).toEqual([201, 403])
    expect((await call('GET', '/quotas')).json).toMatchObject({ quotas: { secrets: used.secrets + 1, orders: 0 } })
    await bed.admission.setQuota(projectId, limits)
  })
})

test('discovery finds version 1 without a token', async () => {
  for (const url of ['', '/']) {
    const reply = await bed.app.inject({ method: 'GET', url: `/key-manager${url}` })
    expect(reply.statusCode).toBe(300)
    expect(reply.json()).toMatchObject({ versions: { values: [{ id: 'v1', status: 'stable' }] } })
  }
})

test('payloads are sealed in the store, and in no log and no audit record; reading one is audited', async () => {
  const secret = await store({ name: 'watched' })
  await call('GET', `${secret}/payload`)
  await call('GET', secret)
  const stored = JSON.stringify(await bed.store.list('secret'))
  expect(stored).toContain('watched')
  await bed.audit.stop()
  const audit = readdirSync(bed.auditDirectory)
    .map((file) => readFileSync(path.join(bed.auditDirectory, file), 'utf8'))
    .join('')
  const records = audit.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  const about = records.filter(({ object }) => String(object).startsWith(secret.slice(1)))
  expect(about.map(({ surface, operation, status }) => [surface, operation, status])).toEqual([
    ['key-manager', 'POST /key-manager/v1/secrets', 201],
    ['key-manager', 'GET /key-manager/v1/secrets/:id/payload', 200],
  ])
  for (const text of [stored, audit, logged])
    for (const payload of [CANARY, CANARY_BASE64]) expect(text).not.toContain(payload)
  expect(logged).not.toBe('')
})
