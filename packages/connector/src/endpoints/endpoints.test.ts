import { describe, expect, test } from 'vitest'
import { endpoint, slice } from '../testing/objects.ts'
import { endpointMembers, type TargetPort } from './endpoints.ts'

const http: TargetPort = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }
const request = { families: [4] as const, preferZone: null, protocol: 'tcp' as const }
const addresses = (slices: Parameters<typeof endpointMembers>[0], more: object = {}) =>
  endpointMembers(slices, http, { ...request, ...more }).members.map(({ address, port }) => `${address}:${port}`)

const ready = { ready: true }
const drains = { ready: false, serving: true, terminating: true }
const dead = { ready: false, serving: false, terminating: true }
const starts = { ready: false, serving: false, terminating: false }

describe('endpoints of a port', () => {
  test.each([
    ['ready ones', [ready, ready], ['10.1.0.1:8080', '10.1.0.2:8080']],
    ['not those that start', [ready, starts], ['10.1.0.1:8080']],
    ['not those that drain while one is ready', [drains, ready], ['10.1.0.2:8080']],
    ['KEP-1669: all drain, those that serve', [drains, dead], ['10.1.0.1:8080']],
    ['none that does not serve', [dead, starts], []],
    ['unknown is ready', [{}, undefined], ['10.1.0.1:8080', '10.1.0.2:8080']],
    [
      'publishNotReadyAddresses says ready of one that terminates',
      [{ ready: true, terminating: true }],
      ['10.1.0.1:8080'],
    ],
  ] as const)('%s', (_, conditions, wanted) => {
    const endpoints = conditions.map((one, at) => endpoint(`10.1.0.${at + 1}`, { conditions: one }))
    expect(addresses([slice('web', endpoints)])).toEqual(wanted)
  })

  test('each family is decided by itself', () => {
    const six = slice('web', [endpoint('2001:db8::1', { conditions: drains })], { name: 's6', addressType: 'IPv6' })
    const four = slice('web', [endpoint('10.1.0.1')])
    expect(addresses([four, six], { families: [4, 6] })).toEqual(['10.1.0.1:8080', '2001:db8::1:8080'])
    expect(addresses([four, six])).toEqual(['10.1.0.1:8080'])
  })

  test('an endpoint in several slices counts once, ready wins; a named port has its number in each', () => {
    const one = slice('web', [endpoint('10.1.0.1', { conditions: drains }), endpoint('10.1.0.2')])
    const two = slice('web', [endpoint('10.1.0.1')], { name: 's2' })
    const three = slice('web', [endpoint('10.1.0.3')], { name: 's3', ports: [{ name: 'http', port: 9090 }] })
    expect(addresses([one, two, three])).toEqual(['10.1.0.1:8080', '10.1.0.2:8080', '10.1.0.3:9090'])
  })

  test('other ports, protocols, names and slices that are being deleted do not count', () => {
    const at = [endpoint('10.1.0.1')]
    expect(addresses([slice('web', at, { ports: [{ name: 'admin', port: 1 }] })])).toEqual([])
    expect(addresses([slice('web', at, { ports: [{ name: 'http', protocol: 'UDP', port: 1 }] })])).toEqual([])
    expect(addresses([slice('web', at, { ports: [] })])).toEqual([])
    expect(addresses([slice('web', at, { ports: null, endpoints: null })])).toEqual([])
    expect(addresses([slice('web', at, { addressType: 'FQDN' })])).toEqual([])
  })

  test.each(['127.0.0.1', '169.254.169.254', '224.0.0.1', 'example.org', '10.1.0.1; drop', '::1', ''])(
    'ignored: %s, written by hand',
    (address) => {
      expect(addresses([slice('web', [endpoint(address), endpoint('10.1.0.9')])])).toEqual(['10.1.0.9:8080'])
    },
  )

  test('zone hints are weights if requested', () => {
    const hinted = { forZones: [{ name: 'b' }] }
    const all = [endpoint('10.1.0.1', { zone: 'a' }), endpoint('10.1.0.2', { zone: 'a', hints: hinted })]
    const weights = (preferZone: string | null) =>
      endpointMembers([slice('web', all)], http, { ...request, preferZone }).members.map(({ weight }) => weight)
    expect(weights(null)).toEqual([1, 1])
    expect(weights('a')).toEqual([100, 1])
    expect(weights('b')).toEqual([1, 100])
  })

  test.each([
    ['tcp', 4096, 5904],
    ['udp', 4096, 5904],
    ['tcp-proxy-v2', 10_000, 0],
    ['http', 10_000, 0],
  ] as const)(
    'of ten thousand a pool of protocol %s has the first %i, and tells of the rest',
    (protocol, most, rest) => {
      const all = Array.from({ length: 100 }, (_, at) =>
        slice(
          'web',
          Array.from({ length: 100 }, (__, host) => endpoint(`10.1.${at}.${host + 1}`)),
          { name: `s${at}` },
        ),
      )
      const { members, leftOut } = endpointMembers(all, http, { ...request, protocol })
      expect([members.length, leftOut]).toEqual([most, rest])
      expect([members[0]?.address, members[4095]?.address]).toEqual(['10.1.0.1', '10.1.40.96'])
    },
  )
})
