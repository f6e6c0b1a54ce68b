import type { SecurityRule } from '@spout/model'
import { cidrContains, parseCidr, parseIp } from '@spout/net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { admittedSources } from './admitted-sources.ts'

const rule = (change: Partial<SecurityRule> = {}): SecurityRule => ({
  id: '00000000-0000-4000-8000-000000000001',
  description: '',
  createdAt: '2026-01-31T12:00:00.000Z',
  ipVersion: 4,
  transport: 'tcp',
  ports: null,
  cidr: '10.0.0.0/8',
  ...change,
})
const web = { protocol: 'http', port: 80, allowedCidrs: null } as const

describe('without security groups', () => {
  test('the list of the listener counts alone', () => {
    expect(admittedSources(web, null)).toBeNull()
    expect(admittedSources({ ...web, allowedCidrs: ['192.0.2.0/24'] }, null)).toEqual(['192.0.2.0/24'])
  })
})

describe('with security groups', () => {
  test.each<[string, SecurityRule, readonly string[]]>([
    ['of its transport', rule(), ['10.0.0.0/8']],
    ['of every transport', rule({ transport: null }), ['10.0.0.0/8']],
    ['of another transport', rule({ transport: 'udp' }), []],
    ['of a range with its port', rule({ ports: { first: 80, last: 443 } }), ['10.0.0.0/8']],
    ['that ends at its port', rule({ ports: { first: 1, last: 80 } }), ['10.0.0.0/8']],
    ['of a range beside its port', rule({ ports: { first: 81, last: 443 } }), []],
    ['for all of IPv4', rule({ cidr: null }), ['0.0.0.0/0']],
    ['for all of IPv6', rule({ cidr: null, ipVersion: 6 }), ['::/0']],
  ])('a rule %s', (_what, given, sources) => {
    expect(admittedSources(web, [given])).toEqual(sources)
  })

  test('no rule lets nobody in', () => {
    expect(admittedSources(web, [])).toEqual([])
  })

  test('a source is admitted if the list and any rule hold it', () => {
    const octets = fc.constantFrom('10.0.0.0', '10.1.0.0', '10.1.1.0', '192.0.2.0')
    const cidr = fc.tuple(octets, fc.constantFrom(0, 8, 16, 24, 32)).map(([base, prefix]) => `${base}/${prefix}`)
    const canonical = cidr.map((text) => {
      const [base = '', prefix] = text.split('/')
      return prefix === '0' ? '0.0.0.0/0' : prefix === '8' ? `${base.split('.')[0]}.0.0.0/8` : text
    })
    const valid = canonical.filter((text) => {
      try {
        parseCidr(text)
        return true
      } catch {
        return false
      }
    })
    const source = fc.constantFrom('10.0.0.0', '10.0.0.1', '10.1.0.9', '10.1.1.0', '10.200.0.1', '192.0.2.7', '8.8.8.8')
    const holds = (cidrs: readonly string[], ip: string) =>
      cidrs.some((text) => cidrContains(parseCidr(text), parseIp(ip)))
    fc.assert(
      fc.property(fc.array(valid, { maxLength: 4 }), fc.array(valid, { maxLength: 4 }), source, (list, lets, ip) => {
        const admitted = admittedSources(
          { ...web, allowedCidrs: list },
          lets.map((text) => rule({ cidr: text })),
        )
        expect(holds(admitted ?? [], ip)).toBe(holds(list, ip) && holds(lets, ip))
      }),
    )
  })
})
