import { describe, expect, it } from 'vitest'
import type { Announcement } from '../../contracts/announcer.ts'
import { NAMED_SETTINGS } from '../../testing/bgp/named-settings.ts'
import { routesOf } from './announced-routes.ts'

const plain = NAMED_SETTINGS.plain!
const [advertisement] = plain.advertisements
const aggregating = { ...advertisement!, number: 4, aggregateLength4: 24, aggregateLength6: 64 }
const settings = { ...plain, advertisements: [advertisement!, aggregating] }

const announce = (address: string, number = 1): Announcement => ({
  address,
  scope: 'fabric',
  domain: 1,
  by: { via: 'bgp', advertisement: number, policy: 'always', shard: null },
})
const short = (announcement: Announcement) => {
  const found = routesOf(announcement, settings, 7200)
  return 'error' in found
    ? found.error
    : found.routes.map(({ table, to, type, metric }) => `${table} ${to} ${type} ${metric}`)
}

describe('routesOf', () => {
  it('announces the address, and keeps it from going back to the router', () => {
    expect(short(announce('192.0.2.9'))).toEqual(['255 192.0.2.9/32 local 2147418112', '7200 192.0.2.9/32 blackhole 1'])
    expect(short(announce('2001:db8::9'))).toEqual([
      '255 2001:db8::9/128 local 2147418112',
      '7200 2001:db8::9/128 blackhole 1',
    ])
  })

  it('announces the prefix instead of the address, and discards other packets to it', () => {
    expect(short(announce('192.0.2.9', 4))).toEqual([
      '255 192.0.2.9/32 local 2147418112',
      '254 192.0.2.0/24 blackhole 2147418112',
      '7200 192.0.2.0/24 blackhole 4',
    ])
    expect(short(announce('2001:db8:0:1::9', 4))).toContain('7200 2001:db8:0:1::/64 blackhole 4')
  })

  it('says why it cannot', () => {
    expect(short(announce('192.0.2.9', 5))).toBe('there is no advertisement 5')
    expect(short({ ...announce('192.0.2.9'), scope: 'tenant' })).toMatch(/fabric/)
    expect(short({ ...announce('192.0.2.9'), by: { via: 'l2' } })).toMatch(/l2/)
    expect(routesOf(announce('192.0.2.9'), null, 7200)).toEqual({ error: 'BGP is not configured on this node' })
  })
})
