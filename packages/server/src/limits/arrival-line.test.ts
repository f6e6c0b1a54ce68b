import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { parseCidr } from '@spout/net'
import { FakeClock } from '@spout/runtime/fake-clock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADMIN_PASSWORD, openTestBed, type TestBed } from '../testing/test-bed.ts'
import { arrivalLine } from './arrival-line.ts'

const clock = new FakeClock()
let bed: TestBed
let lineOf: ReturnType<typeof arrivalLine>
beforeAll(async () => {
  bed = await openTestBed(clock)
  const proxies = { trustedProxies: [parseCidr('192.0.2.1/32')], clientAddressFrom: 'x-forwarded-for' } as const
  lineOf = arrivalLine(bed.authenticator, proxies)
})
afterAll(() => bed.close())

const line = (headers: IncomingHttpHeaders, remoteAddress = '203.0.113.5', url = '/api/v1/networks') =>
  lineOf({ headers, url, socket: { remoteAddress } as IncomingMessage['socket'] })

describe('the line of a request that arrives', () => {
  test('is that of the project, by whichever of its tokens and in whichever header', async () => {
    const { projectId } = bed.admin
    const ann = await bed.login('ann', projectId, 'member')
    const bob = await bed.login('bob', projectId, 'reader')
    const expected = `project ${projectId}`
    expect(line({ authorization: `Bearer ${ann.token}` })).toBe(expected)
    expect(line({ 'x-auth-token': bob.token }, '203.0.113.6')).toBe(expected)
  })

  test('is that of the project for the session of the web page, in the native API alone', async () => {
    const { token } = await bed.login('cleo', bed.admin.projectId, 'reader')
    const cookie = `spout-session=${token}`
    expect(line({ cookie, 'spout-page': '1' })).toBe(`project ${bed.admin.projectId}`)
    expect(line({ cookie })).toBe('address 203.0.113.5')
    expect(line({ cookie, 'spout-page': '1' }, undefined, '/load-balancer/v2/lbaas/pools')).toBe('address 203.0.113.5')
  })

  test('is that of the user for a token without a project', async () => {
    const { secret, principal } = await bed.authenticator.loginWithPassword(
      { name: 'admin' },
      ADMIN_PASSWORD,
      null,
      '192.0.2.7',
    )
    expect(line({ 'x-auth-token': secret })).toBe(`user ${principal.userId}`)
  })

  test('is that of the address for what is no token of ours: inventing some gives no further turns', () => {
    const lines = ['a-token-of-another-service', 'invented'].map((token) => line({ 'x-auth-token': token }))
    expect(lines).toEqual(['address 203.0.113.5', 'address 203.0.113.5'])
  })

  test('is that of the address without a token: an IPv6 /64, and behind a trusted proxy the client', () => {
    expect(line({})).toBe('address 203.0.113.5')
    expect(line({}, '2001:db8::1')).toBe(line({}, '2001:db8::2'))
    expect(line({ 'x-forwarded-for': '198.51.100.9' }, '192.0.2.1')).toBe('address 198.51.100.9')
    expect(line({ 'x-forwarded-for': '198.51.100.9' })).toBe('address 203.0.113.5')
  })
})
