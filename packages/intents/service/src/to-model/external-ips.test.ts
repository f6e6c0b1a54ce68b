import { codePoint } from '@spout/testkit/code-point'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { service } from '../testing/objects.ts'
import { EXTERNAL_ANNOTATION, externalAddresses, externalIpsOf, externalRanges, ownAddresses } from './external-ips.ts'

const RANGES = externalRanges(['198.51.100.0/28', '2001:db8::/64'])
const DUAL = { ipFamilies: ['IPv4', 'IPv6'] } as const
const of = (externalIPs: readonly string[], more: object = DUAL) => service('web', { externalIPs, ...more })

describe('37: which external IPs may be requested', () => {
  test('none without ranges, and they are not refused either', () => {
    expect(externalIpsOf(of(['198.51.100.3', 'nonsense']), [])).toEqual({ wanted: [], refused: [] })
  })

  test('those in the ranges, canonical and each once', () => {
    const { wanted, refused } = externalIpsOf(of(['2001:DB8::0:5', '198.51.100.3', '2001:db8::5']), RANGES)
    expect([wanted, refused]).toEqual([['198.51.100.3', '2001:db8::5'], []])
  })

  test.each([
    ['outside of the ranges', '198.51.100.16', DUAL, 'ExternalIPNotAllowed'],
    ['of a family that the Service does not have', '2001:db8::5', { ipFamilies: ['IPv4'] }, 'AddressFamilyMismatch'],
    ['no address', '198.51.100.03', DUAL, 'InvalidAddress'],
  ])('refused: %s', (_, address, more, reason) => {
    const { wanted, refused } = externalIpsOf(of([address], more), RANGES)
    expect([wanted, refused.map((one) => [one.address, one.refusal.reason])]).toEqual([[], [[address, reason]]])
  })

  test('eight at most, the first of them', () => {
    const { wanted, refused } = externalIpsOf(of(Array.from({ length: 11 }, (_, at) => `198.51.100.${at}`)), RANGES)
    expect(wanted).toHaveLength(8)
    expect(refused.map(({ address, refusal }) => [address, refusal.reason])).toEqual(
      ['198.51.100.8', '198.51.100.9', '198.51.100.10'].map((address) => [address, 'TooManyExternalIPs']),
    )
  })

  test('any value: no exception, and messages are plain and short', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: codePoint }), fc.ipV4(), fc.ipV6()), { maxLength: 40 }),
        (texts) => {
          const { wanted, refused } = externalIpsOf(of(texts), RANGES)
          expect(wanted.length).toBeLessThanOrEqual(8)
          for (const { address } of refused) expect(address).toMatch(/^[\x20-\x7e]{0,67}$/)
        },
      ),
    )
  })
})

describe('which addresses of a document are external', () => {
  const vips = ['198.51.100.1', '2001:db8::1', '198.51.100.3', '203.0.113.9'].map((address) => ({ address }))
  test('those that are noted, never the first', () => {
    const annotations = { [EXTERNAL_ANNOTATION]: '198.51.100.1,198.51.100.3,198.51.100.4' }
    expect(externalAddresses({ annotations, vips })).toEqual(['198.51.100.3'])
    expect(ownAddresses({ annotations, vips })).toEqual(['198.51.100.1', '2001:db8::1', '203.0.113.9'])
    expect(externalAddresses({ annotations: {}, vips })).toEqual([])
  })
})
