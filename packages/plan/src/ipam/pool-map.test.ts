import { formatIp, parseIp } from '@spout/net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { poolMap } from './pool-map.ts'

const pool = {
  ...{ id: 'p', name: 'public', cidr: '198.51.100.0/24', gatewayIp: '198.51.100.4' },
  ranges: [
    { first: '198.51.100.0', last: '198.51.100.10' },
    { first: '198.51.100.250', last: '198.51.100.255' },
  ],
}
const at = (octet: number) => ({ address: `198.51.100.${octet}` })

test('free, excluded and taken addresses, range by range', () => {
  expect([...poolMap(pool, [at(9), at(2)])]).toEqual([
    { state: 'excluded', first: '198.51.100.0', last: '198.51.100.0' },
    { state: 'free', first: '198.51.100.1', last: '198.51.100.1' },
    { state: 'taken', address: at(2) },
    { state: 'free', first: '198.51.100.3', last: '198.51.100.3' },
    { state: 'excluded', first: '198.51.100.4', last: '198.51.100.4' },
    { state: 'free', first: '198.51.100.5', last: '198.51.100.8' },
    { state: 'taken', address: at(9) },
    { state: 'free', first: '198.51.100.10', last: '198.51.100.10' },
    { state: 'free', first: '198.51.100.250', last: '198.51.100.254' },
    { state: 'excluded', first: '198.51.100.255', last: '198.51.100.255' },
  ])
})

test('every address of the pool is in one part, whatever is taken', () => {
  const octets = fc.uniqueArray(fc.oneof(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 250, max: 255 })))
  fc.assert(
    fc.property(octets, (taken) => {
      const seen = [...poolMap(pool, taken.map(at))].flatMap((part) => {
        if (part.state === 'taken') return [part.address.address]
        const [first, last] = [parseIp(part.first).value, parseIp(part.last).value]
        return Array.from({ length: Number(last - first) + 1 }, (_, n) =>
          formatIp({ version: 4, value: first + BigInt(n) }),
        )
      })
      const all = [...Array(11).keys(), 250, 251, 252, 253, 254, 255].map((octet) => at(octet).address)
      expect(seen).toEqual(all)
    }),
  )
})

test('a pool of 2^64 addresses has as many parts as one of few', () => {
  const wide = {
    ...pool,
    cidr: '2001:db8::/64',
    gatewayIp: null,
    ranges: [{ first: '2001:db8::', last: '2001:db8::ffff:ffff:ffff:ffff' }],
  }
  expect([...poolMap(wide, [{ address: '2001:db8::2' }])]).toHaveLength(4)
})
