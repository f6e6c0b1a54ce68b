import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as net from './index.ts'

const ipv4 = fc.bigInt(0n, 2n ** 32n - 1n).map((value): net.Ip => ({ version: 4, value }))
const ipv6 = fc
  .bigInt(0n, 2n ** 128n - 1n)
  .filter((value) => value >> 32n !== 0xffffn)
  .map((value): net.Ip => ({ version: 6, value }))
const ip = fc.oneof(ipv4, ipv6)

it('an IPv6 address before a port stands in brackets', () => {
  expect(net.endpointText({ address: '10.0.0.11', port: 80 })).toBe('10.0.0.11:80')
  expect(net.endpointText({ address: '2001:db8::1', port: '80' })).toBe('[2001:db8::1]:80')
})

describe('parseIp', () => {
  it('prints and parses back every address', () => {
    fc.assert(fc.property(ip, (address) => net.ipEquals(net.parseIp(net.formatIp(address)), address)))
  })
  it.each([
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::', '::'],
    ['1::', '1::'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['2001:DB8::A', '2001:db8::a'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
  ])('prints %s as %s', (text, canonical) => expect(net.canonicalIp(text)).toBe(canonical))
  it.each([
    '010.0.0.1',
    '0x0a000001',
    '10.1',
    '1.2.3.4.5',
    '256.0.0.1',
    '1.2.3',
    '',
    ' 1.2.3.4',
    '1.2.3.4\n',
    '+1.2.3.4',
    '::1%lo',
    '1::2::3',
    '12345::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    ':::',
    '1.2.3.4::',
    '::1.2.3',
    'g::',
    '1:2:3:4:5:6:7::8',
    '١.2.3.4',
  ])('refuses %j', (text) => {
    expect(() => net.parseIp(text)).toThrow(net.AddressSyntaxError)
  })
  it('quotes a text in printable ASCII', () => {
    expect(() => net.parseIp('\u202e1.2\n')).toThrow('"?1.2\\n" is not an IP address')
  })

  it('never throws anything else on any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789abcdef:.%/- '), maxLength: 50 }), (text) => {
        try {
          expect(net.canonicalIp(net.canonicalIp(text))).toBe(net.canonicalIp(text))
        } catch (error) {
          expect(error).toBeInstanceOf(net.AddressSyntaxError)
        }
      }),
    )
  })
})

describe('Cidr', () => {
  it('contains its first and last address and not their neighbours', () => {
    fc.assert(
      fc.property(ip, fc.nat(128), (address, length) => {
        const prefix = Math.min(length, net.ipBits(address.version))
        const cidr = net.parseCidr(`${net.formatIp(address)}/${prefix}`, 'clear')
        expect(net.cidrContains(cidr, address)).toBe(true)
        expect(net.cidrContains(cidr, net.firstIp(cidr)) && net.cidrContains(cidr, net.lastIp(cidr))).toBe(true)
        expect(net.cidrContains(cidr, { ...address, value: net.lastIp(cidr).value + 1n })).toBe(false)
        expect(net.formatCidr(net.parseCidr(net.formatCidr(cidr)))).toBe(net.formatCidr(cidr))
      }),
    )
  })
  it('splits into two halves that do not overlap', () => {
    const [low, high] = net.splitCidr(net.parseCidr('10.0.0.0/24'))
    expect([low, high].map((half) => net.formatCidr(half!))).toEqual(['10.0.0.0/25', '10.0.0.128/25'])
    expect(net.cidrsOverlap(low!, high!)).toBe(false)
    expect(net.splitCidr(net.parseCidr('10.0.0.1/32'))).toEqual([])
  })
  it.each(['10.0.0.1/24', '10.0.0.0', '10.0.0.0/33', '10.0.0.0/024', '10.0.0.0/', '::/129', '10.0.0.0/-1'])(
    'refuses %j',
    (text) => expect(() => net.parseCidr(text)).toThrow(net.AddressSyntaxError),
  )
})

describe('IpRange', () => {
  it('is covered exactly by its prefixes', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 32n - 1n), fc.bigInt(0n, 5000n), (first, length) => {
        const last = first + length > 2n ** 32n - 1n ? 2n ** 32n - 1n : first + length
        const range: net.IpRange = { version: 4, first, last }
        const cidrs = net.rangeToCidrs(range)
        expect(cidrs.reduce((sum, cidr) => sum + net.rangeSize(net.cidrToRange(cidr)), 0n)).toBe(net.rangeSize(range))
        expect(cidrs[0]?.base).toBe(first)
        expect(net.lastIp(cidrs.at(-1)!).value).toBe(last)
      }),
    )
  })
  it.each(['10.0.0.2-10.0.0.1', '10.0.0.1-::1', '10.0.0.1-', '-'])('refuses %j', (text) =>
    expect(() => net.parseIpRange(text)).toThrow(net.AddressSyntaxError),
  )
})

describe('Mac and PortRange', () => {
  it('print what they parsed', () => {
    expect(net.formatMac(net.parseMac('00-1A-2b-3c-4d-5E'))).toBe('00:1a:2b:3c:4d:5e')
    expect(net.formatPortRange(net.parsePortRange('80-90'))).toBe('80-90')
    expect(net.portRangeContains(net.parsePortRange('443'), 443)).toBe(true)
  })
  it.each(['0', '65536', '080', '8 0', '+80', '90-80', ''])('refuses port %j', (text) =>
    expect(() => net.parsePortRange(text)).toThrow(net.AddressSyntaxError),
  )
  it.each(['0:1:2:3:4:5', '00:11:22:33:44', '00:11-22:33:44:55'])('refuses MAC %j', (text) =>
    expect(() => net.parseMac(text)).toThrow(net.AddressSyntaxError),
  )
})

describe('forbiddenRange', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['169.254.169.254', 'the metadata service'],
    ['169.254.1.1', 'link-local'],
    ['224.0.0.1', 'multicast'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['fe80::1', 'link-local'],
    ['ff02::1', 'multicast'],
    ['0.0.0.0', 'the unspecified network'],
  ])('%s is %s', (text, what) => expect(net.forbiddenRange(net.parseIp(text))).toBe(what))
  it.each([
    ['64:ff9b::7f00:1', 'a NAT64 prefix'],
    ['64:ff9b:1::7f00:1', 'a NAT64 prefix'],
    ['2002:7f00:1::1', 'a 6to4 prefix'],
    ['2001::7f00:1', 'the Teredo prefix'],
    ['::7f00:1', 'IPv4-compatible'],
    ['::ffff:127.0.0.1', 'loopback'],
  ])('an IPv4 address in another form: %s is %s', (text, what) =>
    expect(net.forbiddenRange(net.parseIp(text))).toBe(what),
  )
  it('looks at whole ranges, not at their ends', () => {
    expect(net.forbiddenWithin(net.parseIpRange('126.0.0.1-128.0.0.1'))).toBe('loopback')
    expect(net.forbiddenWithin(net.parseIpRange('10.0.0.1-10.0.0.9'))).toBeNull()
    expect(net.forbiddenWithin(net.parseIpRange('::1:0:0:0:0-64:ff9c::'))).toBe('a NAT64 prefix')
  })
  it('lets ordinary addresses pass', () => expect(net.forbiddenRange(net.parseIp('10.0.0.5'))).toBeNull())
})
