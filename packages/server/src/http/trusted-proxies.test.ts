import { parseCidr } from '@spout/net'
import { silentLogger } from '@spout/runtime'
import { recordFault } from '@spout/testkit'
import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, test } from 'vitest'
import { ADMIN_PASSWORD, openTestBed } from '../testing/test-bed.ts'
import type { CLIENT_ADDRESS_SOURCES } from './client-address.ts'
import { createServer } from './host.ts'

let app: FastifyInstance
afterEach(() => app.close())

const PROXY = '10.0.0.5'
const whoIs = async (
  clientAddressFrom: (typeof CLIENT_ADDRESS_SOURCES)[number],
  headers: Record<string, string>,
  peer = PROXY,
): Promise<string> => {
  app = createServer({
    log: silentLogger(),
    proxies: { trustedProxies: [parseCidr('10.0.0.0/24')], clientAddressFrom },
  })
  app.get('/who', async (request) => request.ip)
  return (await app.inject({ url: '/who', headers, remoteAddress: peer })).body
}

describe('behind a trusted proxy a request is that of', () => {
  test.each([
    ['x-forwarded-for', { 'x-forwarded-for': '192.0.2.7' }, '192.0.2.7'],
    ['forwarded', { forwarded: 'for="[2001:db8::7]:80";proto=https' }, '2001:db8::7'],
    // A header that the proxy does not set may be the client's.
    ['x-forwarded-for', { forwarded: 'for=192.0.2.7' }, PROXY],
    ['forwarded', { 'x-forwarded-for': '192.0.2.7' }, PROXY],
    ['proxy-protocol', { 'x-forwarded-for': '192.0.2.7', forwarded: 'for=192.0.2.7' }, PROXY],
    ['x-forwarded-for', {}, PROXY],
  ] as const)('%s, %o: %s', async (from, headers, address) => {
    expect(await whoIs(from, headers)).toBe(address)
  })

  test("and behind anything else that of the connection's other end", async () => {
    const headers = { 'x-forwarded-for': '192.0.2.7', forwarded: 'for=192.0.2.7' }
    expect(await whoIs('x-forwarded-for', headers, '192.0.2.99')).toBe('192.0.2.99')
  })
})

test('a user who is refused at one address behind the proxy can log in at another', async () => {
  const proxies = { trustedProxies: [parseCidr('127.0.0.0/8')], clientAddressFrom: 'x-forwarded-for' } as const
  const bed = await openTestBed(undefined, undefined, { proxies })
  app = bed.app
  const login = async (password: string, from: string): Promise<number> => {
    const body = { userName: 'admin', password, projectName: 'admin' }
    return (await bed.askNative('POST', '/tokens', null, body, { 'x-forwarded-for': from })).status
  }
  for (let time = 0; time < 10; time++) expect(await login('wrong', '192.0.2.66')).toBe(401)
  expect(await login(ADMIN_PASSWORD, '192.0.2.66')).toBe(401)
  expect(await login(ADMIN_PASSWORD, '192.0.2.7')).toBe(201)
  const { items } = await bed.audit.read({ show: (record) => record, since: null, limit: 2, before: null })
  expect(items.map(({ from, status }) => [from, status])).toEqual([
    ['192.0.2.7', 201],
    ['192.0.2.66', 401],
  ])
  recordFault({
    fault: 'wrong passwords of a user through the proxy that all share',
    outcome: 'he is refused at the address that guesses, and gets in from his own',
    figure: '10 guesses',
  })
  await bed.close()
})
