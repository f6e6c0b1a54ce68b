import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Secret, silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { KeystoneClient } from './keystone-client.ts'
import { KeystoneTokens } from './keystone-tokens.ts'

// Answers that a working Keystone never gives, and what takes long. apps/control-plane tests the rest with a real
// Keystone.
const PROJECT = '2882a8c3db4a43e6afbc86283e8298c6'
const CACHE_MS = 60_000
const OUTAGE_MS = 600_000

let clock: FakeClock
let server: Server
let client: KeystoneClient
let tokens: KeystoneTokens
/** Tokens that were asked about, and how each is answered; `login` is our own login. */
let asked: string[]
let answers: Record<string, (response: ServerResponse) => void>

const tokenBody = (lastsMs = 3_600_000): string =>
  JSON.stringify({
    token: {
      methods: ['password'],
      user: { id: 'd538b0d62b33438bb72d47412b803bec', name: 'alice', domain: { id: 'default', name: 'Default' } },
      project: { id: PROJECT, name: 'shop', domain: { id: 'default', name: 'Default' } },
      roles: [{ id: 'r', name: 'Member' }],
      issued_at: clock.now().toISOString(),
      expires_at: new Date(clock.now().getTime() + lastsMs).toISOString(),
    },
  })

const confirms = (response: ServerResponse): void => void response.writeHead(200).end(tokenBody())
const refuses =
  (status: number, body = '{}') =>
  (response: ServerResponse): void =>
    void response.writeHead(status).end(body)

function answer(request: IncomingMessage, response: ServerResponse): void {
  const subject = request.headers['x-subject-token']
  if (request.method === 'POST') {
    asked.push('login')
    const login = answers['login']
    if (login !== undefined) login(response)
    else response.writeHead(201, { 'x-subject-token': 'own' }).end('{}')
    return
  }
  asked.push(String(subject))
  const reply = answers[String(subject)] ?? answers['any']
  if (reply === undefined) confirms(response)
  else reply(response)
}

beforeEach(async () => {
  clock = new FakeClock()
  asked = []
  answers = {}
  server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open(20_000)
})
afterEach(async () => {
  client.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function open(timeoutMs: number): void {
  client?.close()
  client = new KeystoneClient({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3`,
    credential: { applicationCredentialId: 'id', secret: new Secret('secret') },
    ca: null,
    timeoutMs,
  })
  tokens = new KeystoneTokens({
    ...{ client, clock, log: silentLogger(), cacheMs: CACHE_MS, outageMs: OUTAGE_MS },
    projects: { idFor: async () => PROJECT },
  })
}

const questions = (): readonly string[] => asked.filter((each) => each !== 'login')
const outcome = async (secret: string): Promise<string> => {
  try {
    return (await tokens.open(secret)).current().principal.roles.join()
  } catch (error) {
    return (error as Error).message
  }
}
const UNKNOWN = expect.stringContaining('neither Spout nor Keystone knows the token')

test('a token is asked about once in the cache time, by all requests together', async () => {
  expect(await Promise.all(['a', 'a', 'a'].map(outcome))).toEqual(Array(3).fill('member,reader'))
  clock.stall(CACHE_MS - 1)
  expect(await outcome('a')).toBe('member,reader')
  expect(asked).toEqual(['login', 'a'])
  clock.stall(1)
  answers['a'] = refuses(404)
  expect(await outcome('a')).toEqual(UNKNOWN)
  expect(questions()).toEqual(['a', 'a'])
})

test('what was refused is not asked again for five seconds', async () => {
  answers['a'] = refuses(404)
  expect([await outcome('a'), await outcome('a')]).toEqual([UNKNOWN, UNKNOWN])
  clock.stall(4999)
  await outcome('a')
  expect(questions()).toEqual(['a'])
  clock.stall(1)
  delete answers['a']
  expect(await outcome('a')).toBe('member,reader')
})

test('what cannot be a token is not asked about', async () => {
  for (const secret of ['x'.repeat(4097), 'a b', 'ä', '']) expect(await outcome(secret)).toEqual(UNKNOWN)
  expect(asked).toEqual([])
})

test('a token ends when it expires, cached or not', async () => {
  answers['a'] = (response) => void response.writeHead(200).end(tokenBody(1000))
  const session = await tokens.open('a')
  expect(session.current().principal.userId).toBe('d538b0d6-2b33-438b-b72d-47412b803bec')
  clock.stall(1000)
  expect(() => session.current()).toThrow('expired')
  expect(await outcome('a')).toContain('expired')
})

test('our own token is replaced when it has ended', async () => {
  await outcome('a')
  let isFirst = true
  answers['b'] = (response) => {
    if (isFirst) refuses(401)(response)
    else confirms(response)
    isFirst = false
  }
  expect(await outcome('b')).toBe('member,reader')
  expect(asked).toEqual(['login', 'a', 'b', 'login', 'b'])
})

test('while it is away, known tokens go on for a while, and nobody else waits', async () => {
  await outcome('a')
  clock.stall(CACHE_MS)
  answers['any'] = refuses(503)
  expect([await outcome('a'), await outcome('b'), await outcome('c')]).toEqual([
    'member,reader',
    ...Array(2).fill('Keystone is not available: it answered 503'),
  ])
  // Of these three, only the first asked Keystone.
  expect(questions()).toEqual(['a', 'a'])
  clock.stall(OUTAGE_MS)
  expect(await outcome('a')).toContain('503')
  delete answers['any']
  clock.stall(1000)
  expect(await outcome('b')).toBe('member,reader')
})

test.each<readonly [string, (response: ServerResponse) => void]>([
  ['no answer', () => {}],
  ['an answer without an end', (response) => void response.writeHead(200).write('{')],
])('%s is not waited for', async (_what, reply) => {
  open(100)
  answers['login'] = reply
  expect(await outcome('a')).toBe('Keystone is not available: it did not answer within 100 ms')
})

test.each([
  ['a refused login', null, "it refuses the login of Spout's own user with 401"],
  ['a missing role', refuses(403), "Spout's user there needs the role service"],
] as const)('%s is said, and concerns every token', async (_what, reply, reason) => {
  if (reply === null) answers['login'] = refuses(401)
  else answers['a'] = reply
  expect([await outcome('a'), await outcome('b')]).toEqual(Array(2).fill(expect.stringContaining(reason)))
})

test.each([
  ['no JSON', refuses(200, '<html>'), 'does not say whose the token is'],
  ['another document', refuses(200, '{"token":{}}'), 'does not say whose the token is'],
  ['too much', refuses(200, 'x'.repeat(300_000)), 'longer than 262144 bytes'],
  ['an internal error', refuses(500), 'does not say whose the token is'],
  ['a bad request', refuses(400), 'neither Spout nor Keystone knows the token'],
] as const)('%s as the answer about one token concerns no other', async (_what, reply, reason) => {
  answers['a'] = reply
  expect([await outcome('a'), await outcome('b')]).toEqual([expect.stringContaining(reason), 'member,reader'])
})

test('a session that goes on ends when its renewal is refused', async () => {
  const session = await tokens.open('a')
  expect(session.renewEveryMs).toBe(CACHE_MS)
  clock.stall(CACHE_MS)
  await session.renew()
  expect(session.current().principal.userName).toBe('alice')
  clock.stall(CACHE_MS)
  answers['a'] = refuses(404)
  await session.renew()
  expect(() => session.current()).toThrow('neither Spout nor Keystone knows the token')
})
