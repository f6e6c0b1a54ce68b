import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { bfdSettings } from '../announcers/bgp-peer.ts'
import { sameJson } from '../diff/same-json.ts'
import { healthMonitor } from '../health-checks/health-monitor.ts'
import { listener } from '../load-balancers/listener.ts'
import { member } from '../load-balancers/pool.ts'
import { addressPool } from '../networks/network.ts'
import { canonicalJson, entryHash, hashEntry } from '../node-state/entry-hash.ts'
import type { DomainEntry, LoadBalancerEntry } from '../node-state/index.ts'
import { ERRORS, SpoutError } from './errors.ts'
import { parseAs } from './parse.ts'

const meta = {
  id: '00000000-0000-4000-8000-000000000001',
  name: '',
  description: '',
  createdAt: '2026-01-31T12:00:00.000Z',
  updatedAt: null,
}
const aListener = {
  ...meta,
  tags: [],
  enabled: true,
  protocol: 'tcp',
  port: 80,
  connectionLimit: null,
  defaultPoolId: null,
  timeouts: { clientMs: 1, connectMs: 1, memberMs: 1, inspectMs: 0 },
  insertHeaders: [],
  allowedCidrs: null,
}
const aMember = {
  ...meta,
  tags: [],
  enabled: true,
  address: '10.0.0.1',
  port: 80,
  subnetId: null,
  weight: 1,
  backup: false,
  monitorAddress: null,
  monitorPort: null,
}
const aMonitor = {
  ...meta,
  tags: [],
  enabled: true,
  type: 'http',
  intervalMs: 1000,
  timeoutMs: 500,
  rise: 1,
  fall: 1,
  http: { method: 'GET', path: '/', expectedCodes: [{ first: 200, last: 200 }], version: '1.1', host: null },
}

function refusal(parse: () => unknown): SpoutError {
  try {
    parse()
  } catch (error) {
    if (error instanceof SpoutError) return error
    throw error
  }
  throw new Error('it was accepted')
}

describe('parseAs', () => {
  it.each([
    ['an unknown field', { ...aListener, colour: true }, 'UnknownField', 'listeners[0].colour'],
    [
      'an unknown inner field',
      { ...aListener, timeouts: { ...aListener.timeouts, idleMs: 1 } },
      'UnknownField',
      'listeners[0].timeouts.idleMs',
    ],
    ['a missing field', { ...aListener, port: undefined }, 'MissingField', 'listeners[0].port'],
    ['a wrong type', { ...aListener, port: '80' }, 'InvalidField', 'listeners[0].port'],
    ['a port of 0', { ...aListener, port: 0 }, 'InvalidField', 'listeners[0].port'],
    [
      'a broken prefix',
      { ...aListener, allowedCidrs: ['10.0.0.0/33'] },
      'InvalidField',
      'listeners[0].allowedCidrs[0]',
    ],
    ['a name that is too long', { ...aListener, name: 'x'.repeat(256) }, 'InvalidField', 'listeners[0].name'],
    ['something else altogether', 'listener', 'InvalidField', 'listeners[0]'],
    ['null', null, 'InvalidField', 'listeners[0]'],
  ])('refuses %s and names the field', (_what, value, code, field) => {
    expect(refusal(() => parseAs(listener, value, 'listeners[0]'))).toMatchObject({ code, field })
  })

  it('prints addresses and prefixes in canonical form', () => {
    expect(parseAs(listener, { ...aListener, allowedCidrs: ['10.0.0.7/8', '2001:DB8::1'] }).allowedCidrs).toEqual([
      '10.0.0.0/8',
      '2001:db8::1/128',
    ])
    expect(parseAs(member, { ...aMember, address: '::ffff:10.0.0.1' }).address).toBe('10.0.0.1')
  })

  it.each([
    '127.0.0.1',
    '169.254.169.254',
    '169.254.3.4',
    '224.0.0.1',
    '::1',
    'fe80::1',
    'ff02::1',
    '0.0.0.0',
    '255.255.255.255',
    '::ffff:127.0.0.1',
    '010.0.0.1',
  ])('refuses %s as a member', (address) =>
    expect(refusal(() => parseAs(member, { ...aMember, address }))).toMatchObject({
      code: 'InvalidField',
      field: 'address',
    }),
  )

  it.each(['/a b', '/a\r\nX: y', 'http://x/', '', '/\u00e9', '/a\u0000'])(
    'refuses %j as the path of a check',
    (path) => {
      const http = { ...aMonitor.http, path }
      expect(refusal(() => parseAs(healthMonitor, { ...aMonitor, http })).field).toBe('http.path')
    },
  )
  it.each(['a b', 'a\nb', 'a"b', 'x/y'])('refuses %j as the host of a check', (host) => {
    expect(refusal(() => parseAs(healthMonitor, { ...aMonitor, http: { ...aMonitor.http, host } })).field).toBe(
      'http.host',
    )
  })
  describe('of a union', () => {
    const login = z.union([
      z.strictObject({ userName: z.string(), password: z.string(), projectName: z.string().optional() }),
      z.strictObject({ applicationCredentialId: z.string(), secret: z.string().min(1) }),
      z.strictObject({ serviceAccountToken: z.string() }),
    ])
    it.each([
      [{ user: 'alice', password: 'x' }, 'MissingField', 'login.userName', undefined],
      [{ userName: 'alice', password: 1 }, 'InvalidField', 'login.password', 'must be text'],
      [{ userName: 'alice', password: 'x', project: 'y' }, 'UnknownField', 'login.project', undefined],
      [{ applicationCredentialId: 'x', secret: '' }, 'InvalidField', 'login.secret', 'at least 1'],
      ['alice', 'InvalidField', 'login', 'must be an object'],
    ])('explains %j by the nearest alternative', (value, code, field, reason = '') => {
      const refused = refusal(() => parseAs(login, value, 'login'))
      expect(refused).toMatchObject({ code, field })
      expect(refused.message).toContain(reason)
    })

    it.each([
      ['quick', 'bfd', 'must be one of none, default, fast'],
      [{ minTransmitMs: 1, minReceiveMs: 10, multiplier: 3 }, 'bfd.minTransmitMs', 'must be at least 5'],
    ])('explains %j as BFD by the nearest alternative', (value, field, reason) => {
      const refused = refusal(() => parseAs(z.strictObject({ bfd: bfdSettings }), { bfd: value }))
      expect(refused).toMatchObject({ code: 'InvalidField', field })
      expect(refused.message).toContain(reason)
    })
  })
  it('looks at no item of a list behind the first wrong one', () => {
    let looks = 0
    const item = () => ({
      get address() {
        looks++
        return undefined
      },
    })
    const items = Array.from({ length: 1000 }, item)
    expect(() =>
      parseAs(z.strictObject({ items: z.array(z.strictObject({ address: z.string() })) }), { items }),
    ).toThrow('Field items[0].address is required')
    // Including the reads that make the message.
    expect(looks).toBeLessThan(10)
  })

  it('needs at least one range in a pool', () => {
    const pool = { ...meta, ranges: [], cidr: '10.0.0.0/24', gatewayIp: null, projectIds: null, quarantineSeconds: 0 }
    expect(refusal(() => parseAs(addressPool, pool)).field).toBe('ranges')
  })
  it('never throws anything but an error of the table', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...Object.keys(aListener), '__proto__', 'constructor'), fc.anything()),
        (fields) => {
          try {
            parseAs(listener, { ...aListener, ...fields })
          } catch (error) {
            expect(error).toBeInstanceOf(SpoutError)
          }
        },
      ),
    )
  })
})

describe('ERRORS', () => {
  it('every message is complete once its parameters are given', () => {
    for (const [code, { template }] of Object.entries(ERRORS)) {
      const names = [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
      const error = new SpoutError(code as keyof typeof ERRORS, Object.fromEntries(names.map((name) => [name, 'x'])))
      expect(error.message).not.toContain('{')
    }
  })
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32)

describe('entryHash', () => {
  const entry: DomainEntry = {
    kind: 'domain',
    version: 1,
    key: 'domain/1',
    number: 1,
    networkId: 'n',
    segment: { physicalNetwork: 'p', vlan: null },
    returnPath: 'snat',
    subnets: [],
    gateway: null,
  }
  it('depends on every value, and not on the order of fields', () => {
    const reversed = Object.fromEntries(Object.entries(entry).reverse()) as unknown as DomainEntry
    expect(entryHash(reversed)).toBe(entryHash(entry))
    expect(entryHash({ ...entry, gateway: { via: 'l2' } })).not.toBe(entryHash(entry))
    expect(entryHash({ ...entry, segment: { physicalNetwork: 'p', vlan: 1 } })).not.toBe(entryHash(entry))
  })

  it('canonical JSON sorts names, in lists too', () => {
    const plainly = (value: unknown): string => {
      if (value === null || typeof value !== 'object') return JSON.stringify(value)
      if (Array.isArray(value)) return `[${value.map(plainly).join()}]`
      const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
      return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${plainly(field)}`).join()}}`
    }
    const item = fc.record({ b: fc.jsonValue(), a: fc.integer(), 'ü"': fc.jsonValue() }, { requiredKeys: ['a'] })
    fc.assert(
      fc.property(fc.array(fc.oneof(item, fc.jsonValue())), (value) => {
        expect(canonicalJson(value)).toBe(plainly(value))
      }),
    )
  })

  it('hashing a changed entry gives the same with and without the previous one', () => {
    const entryOf = (members: readonly object[]): LoadBalancerEntry =>
      ({
        kind: 'load-balancer',
        services: [],
        pools: [
          { id: 'p', members },
          { id: 'q', members: [] },
        ],
      }) as unknown as LoadBalancerEntry
    const all = Array.from({ length: 300 }, (_, at) => ({ id: `m${at}` }))
    const before = hashEntry(entryOf(all))
    const changed = [
      all.toSpliced(3, 1),
      all.with(299, { id: 'x' }),
      [...all, { id: 'x' }],
      all.slice(0, 65),
      all.slice(0, 64),
      [],
    ]
    const hashes = changed.map((members) => hashEntry(entryOf(members), before).hash)
    expect(hashes).toEqual(changed.map((members) => entryHash(entryOf(structuredClone(members)))))
    expect(new Set([before.hash, ...hashes]).size).toBe(7)
    // Small entries keep the plain hash of their canonical JSON.
    expect(entryHash(entryOf(all.slice(0, 64)))).toBe(
      createHash('sha256')
        .update(canonicalJson(entryOf(all.slice(0, 64))))
        .digest('hex')
        .slice(0, 32),
    )
  })

  it('hashing an entry with other routes gives the same with and without the previous one', () => {
    const entryOf = (routes: readonly object[]): LoadBalancerEntry =>
      ({ kind: 'load-balancer', services: [{ id: 's', routes }], pools: [] }) as unknown as LoadBalancerEntry
    const all = Array.from({ length: 100 }, (_, at) => ({ id: `r${at}` }))
    const before = hashEntry(entryOf(all))
    const changed = [all.toSpliced(3, 1), all.with(99, { id: 'x' }), [{ id: 'x' }, ...all], all.toReversed(), []]
    const hashes = changed.map((routes) => hashEntry(entryOf(routes), before).hash)
    expect(hashes).toEqual(changed.map((routes) => entryHash(entryOf(structuredClone(routes)))))
    expect(new Set([before.hash, ...hashes]).size).toBe(6)
    let last = before
    for (const routes of [...changed.slice(0, 4), all.toSpliced(70, 1).toSpliced(7, 0, { id: 'y' }), all]) {
      last = hashEntry(entryOf(routes), last)
      expect(last.hash).toBe(entryHash(entryOf(structuredClone(routes))))
    }
    const few = entryOf(all.slice(0, 64))
    expect(entryHash(few)).toBe(createHash('sha256').update(canonicalJson(few)).digest('hex').slice(0, 32))
  })

  it('hashing an entry of many pools gives the same with and without the previous one', () => {
    const pool = fc.record({
      id: fc.string({ unit: 'grapheme', maxLength: 3 }),
      members: fc.oneof(fc.constant([]), fc.array(fc.record({ id: fc.nat(9) }), { minLength: 63, maxLength: 66 })),
    })
    const entryOf = (pools: readonly object[]): LoadBalancerEntry =>
      ({ version: 1, kind: 'load-balancer', services: [{ id: 's' }], pools }) as unknown as LoadBalancerEntry
    const plainly = (entry: LoadBalancerEntry) => {
      const pools = entry.pools.map(({ members, ...others }) => {
        const halves = [members.slice(0, 64), members.slice(64)].map((part) => sha256(canonicalJson(part)))
        return { ...others, members: members.length > 64 ? halves : members }
      })
      return sha256(canonicalJson({ ...entry, pools }))
    }
    const many = fc.array(pool, { minLength: 15, maxLength: 18, size: 'max' })
    const changes = fc.array(fc.record({ at: fc.nat(17), pool, how: fc.constantFrom('put', 'add', 'remove', 'move') }))
    fc.assert(
      fc.property(many, changes, (begin, all) => {
        let pools: readonly object[] = begin
        let last = hashEntry(entryOf(pools))
        for (const { at, pool: one, how } of all) {
          if (how === 'put') pools = pools.with(Math.min(at, pools.length - 1), one)
          else if (how === 'move') pools = [...pools.slice(1), pools[0]!]
          // Some occur twice.
          else pools = pools.toSpliced(at, how === 'remove' ? 1 : 0, ...(how === 'add' ? [one, one] : []))
          last = hashEntry(entryOf(pools), last)
          expect(last.hash).toBe(plainly(entryOf(pools)))
        }
      }),
      { numRuns: 50 },
    )
  })

  it('equal JSON is equal canonical JSON', () => {
    const value = fc.array(fc.oneof(fc.constantFrom(0, 1, null, 'a'), fc.record({ a: fc.nat(1), b: fc.nat(1) })), {
      maxLength: 3,
    })
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(sameJson(a, b)).toBe(canonicalJson(a) === canonicalJson(b))
        expect(sameJson({ a, b }, { b, a, c: undefined })).toBe(true)
      }),
    )
  })
})
