import { cidrContains, formatCidr, type Ip, ipBits, parseCidr, parseIp } from '@spout/net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RouteIndex } from './route-index.ts'

/** Prefixes that may overlap, of a space small enough that they do. */
const prefix = fc
  .tuple(fc.constantFrom(4, 6), fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 8 }))
  .map(([version, top, length]) => {
    const shift = BigInt(ipBits(version as 4 | 6) - 8)
    const base = ((BigInt(top) >> BigInt(8 - length)) << BigInt(8 - length)) << shift
    return { to: formatCidr({ version: version as 4 | 6, base, prefix: length }) }
  })
const address = fc.tuple(fc.constantFrom(4, 6), fc.integer({ min: 0, max: 255 })).map(([version, top]): Ip => {
  return { version: version as 4 | 6, value: (BigInt(top) << BigInt(ipBits(version as 4 | 6) - 8)) + 77n }
})

describe('RouteIndex', () => {
  it('finds the same as a linear search, unless two overlap', () => {
    fc.assert(
      fc.property(fc.array(prefix, { maxLength: 12 }), address, (routes, ip) => {
        const index = new RouteIndex(routes)
        const holding = routes.filter(({ to }) => cidrContains(parseCidr(to), ip))
        if (holding.length > 1) expect(index.overlap()).not.toBeNull()
        if (index.overlap() === null) expect(index.find(ip)).toBe(holding[0] ?? null)
        else {
          const [one, other] = index.overlap()!
          expect(one).not.toBe(other)
        }
      }),
    )
  })

  it('returns the two that overlap', () => {
    const [wide, far, narrow] = [{ to: '10.0.0.0/8' }, { to: '11.0.0.0/8' }, { to: '10.9.0.0/16' }]
    expect(new RouteIndex([wide, far, narrow]).overlap()).toEqual([wide, narrow])
    expect(new RouteIndex([wide, far]).overlap()).toBeNull()
    expect(new RouteIndex([wide, { to: '::/0' }]).find(parseIp('::1'))).toEqual({ to: '::/0' })
  })
})
