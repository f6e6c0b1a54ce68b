import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Principal } from '@spout/admission/contract'
import { SpoutError } from '@spout/model'
import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Session } from '../authn/issued-tokens.ts'
import { type Answer, createServer } from '../http/host.ts'
import { KnownReads } from './known-reads.ts'
import { RequestShares } from './request-shares.ts'

const principal = { userId: 'u', userName: 'u', projectId: 'p', roles: ['member'], expiresAt: '' } as Principal

let app: FastifyInstance
let shares: RequestShares
let answers: Answer[]
let base: string
let body: string

beforeEach(async () => {
  answers = []
  body = '{"from":"memory"}'
  shares = new RequestShares({ clock: new FakeClock(), perSecond: 1, burst: 2 })
  const reads = new KnownReads({
    tokens: {
      session: (secret) => {
        if (secret !== 'good') throw new SpoutError('Unauthenticated', { reason: 'the token is not known' })
        return { principal } as Session
      },
    },
    shares,
    askerOf: () => ({ who: 'project p' }),
  })
  reads.offer((path) =>
    path === '/known' ? ({ accept }) => (accept === 'nothing' ? null : { route: '/known', body }) : null,
  )
  app = createServer({ log: silentLogger(), known: reads.find, onAnswer: (answer) => answers.push(answer) })
  for (const url of ['/known', '/other']) app.all(url, async () => ({ from: 'route' }))
  await app.listen({ host: '127.0.0.1', port: 0 })
  base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
})
afterEach(async () => {
  shares.close()
  await app.close()
})

const fromOf = async (path: string, headers: Record<string, string>, method = 'GET'): Promise<unknown> =>
  ((await (await fetch(base + path, { headers, method })).json()) as { from: string }).from

const ours = { 'x-auth-token': 'good' }

describe('a read is answered ahead of the routes', () => {
  test('if nothing is left to decide', async () => {
    expect(await fromOf('/known', ours)).toBe('memory')
    expect(await fromOf('/known', { authorization: 'Bearer good' })).toBe('memory')
    expect(answers.map(({ method, route, status }) => [method, route, status])).toEqual([
      ['GET', '/known', 200],
      ['GET', '/known', 200],
    ])
  })

  test.each([
    ['another path', '/other', ours, 'GET'],
    ['a write', '/known', ours, 'POST'],
    ['no token', '/known', {}, 'GET'],
    ['a token that is none', '/known', { 'x-auth-token': 'bad' }, 'GET'],
    ['a text that was not made', '/known', { ...ours, accept: 'nothing' }, 'GET'],
  ])('not so: %s', async (_, path, headers, method) => {
    expect(await fromOf(path, headers as Record<string, string>, method)).toBe('route')
    // The read was not charged to the share.
    expect(await fromOf('/known', ours)).toBe('memory')
    expect(await fromOf('/known', ours)).toBe('memory')
  })

  test('not so: a share that is used up waits for its turn at the gate', async () => {
    for (const from of ['memory', 'memory', 'route']) expect(await fromOf('/known', ours)).toBe(from)
  })

  test('its length is charged; a longer one is sent by its route', async () => {
    body = JSON.stringify({ from: 'memory', rest: 'x'.repeat(16_300) })
    for (const from of ['memory', 'memory', 'route']) expect(await fromOf('/known', ours)).toBe(from)
    expect(shares.startsNow('project p')).toBe(false)
    body = JSON.stringify({ from: 'memory', rest: 'x'.repeat(16_400) })
    expect(await fromOf('/known', ours)).toBe('route')
  })

  test('its headers are those of a route', async () => {
    const headersOf = async (path: string) => {
      const request = get(base + path, { headers: ours })
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      response.resume()
      return Object.keys(response.headers).sort()
    }
    expect(await headersOf('/known')).toEqual(await headersOf('/other'))
  })
})
