import { parseCidr } from '@spout/net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CLIENT_ADDRESS_SOURCES, clientAddress } from './client-address.ts'

const PROXY = '10.0.0.5'
const trust = (clientAddressFrom: (typeof CLIENT_ADDRESS_SOURCES)[number]) => ({
  trustedProxies: [parseCidr('10.0.0.0/24'), parseCidr('2001:db8:ffff::/48')],
  clientAddressFrom,
})

describe('X-Forwarded-For', () => {
  test.each([
    ['of a proxy names the client', PROXY, '192.0.2.7', '192.0.2.7'],
    ['of somebody else is his own tale', '192.0.2.99', '10.9.9.9', '192.0.2.99'],
    ['counts from the right: what a client sent himself is left of it', PROXY, '127.0.0.1, 192.0.2.7', '192.0.2.7'],
    ['of a chain of proxies names the last one that is none', PROXY, '8.8.8.8, 192.0.2.7, 10.0.0.9', '192.0.2.7'],
    ['may have a port', PROXY, '192.0.2.7:5123', '192.0.2.7'],
    ['may have an IPv6 address with a port', PROXY, '[2001:db8::7]:5123', '2001:db8::7'],
    ['may have an IPv6 address', PROXY, '2001:DB8:0::7', '2001:db8::7'],
    ['may have an IPv4-mapped address', PROXY, '::ffff:192.0.2.7', '192.0.2.7'],
    ['that nobody can read leaves the proxy', PROXY, 'unknown', PROXY],
    ['that says what only the socket in the state directory is called leaves the proxy', PROXY, 'local', PROXY],
    ['that nobody can read ends the walk', PROXY, '192.0.2.7, garbage, 10.0.0.9', '10.0.0.9'],
    ['with nothing in it leaves the proxy', PROXY, '', PROXY],
    ['of an IPv4-mapped proxy', '::ffff:10.0.0.5', '192.0.2.7', '192.0.2.7'],
  ])('%s', (_what, peer, header, address) => {
    expect(clientAddress(trust('x-forwarded-for'), peer, header)).toBe(address)
  })
})

describe('Forwarded', () => {
  test.each([
    ['for=192.0.2.7', '192.0.2.7'],
    ['For="[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
    ['proto=https;for=192.0.2.7;by=10.0.0.5', '192.0.2.7'],
    ['for=127.0.0.1, for=192.0.2.7;proto=http', '192.0.2.7'],
    ['for=_hidden', PROXY],
    ['for=unknown, for=10.0.0.9', '10.0.0.9'],
    ['by=192.0.2.7', PROXY],
    ['xfor=192.0.2.7', PROXY],
    ['for="192.0.2.7', PROXY],
  ])('%s is %s', (header, address) => {
    expect(clientAddress(trust('forwarded'), PROXY, header)).toBe(address)
  })
})

test('a client that does not come through a proxy cannot change its address', () => {
  const header = fc
    .array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.constant('for=10.0.0.1')))
    .map((all) => all.join(','))
  fc.assert(
    fc.property(fc.constantFrom(...CLIENT_ADDRESS_SOURCES), header, (from, value) => {
      expect(clientAddress(trust(from), '192.0.2.99', value)).toBe('192.0.2.99')
    }),
  )
})

test("what a client sends is left of the proxy's addition, and changes nothing", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.ipV4(), fc.string())), (sent) => {
      expect(clientAddress(trust('x-forwarded-for'), PROXY, [...sent, '192.0.2.7'].join(', '))).toBe('192.0.2.7')
    }),
  )
})
