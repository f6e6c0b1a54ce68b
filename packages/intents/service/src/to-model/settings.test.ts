import { describe, expect, test } from 'vitest'
import { service } from '../testing/objects.ts'
import { persistenceOf } from './affinity.ts'
import type { Mode } from './mode.ts'
import { monitorOf } from './monitor.ts'
import { portsOf } from './ports.ts'
import { sourceRangesOf } from './source-ranges.ts'

const all = new Set(['tcp', 'udp'])

describe('monitor', () => {
  const of = (spec: object, annotations: Record<string, string>, mode: Mode = 'direct') => {
    const one = service('a', spec, { annotations })
    const monitor = monitorOf(one, portsOf(one, mode, all)[0]!, mode)
    return 'refusal' in monitor ? monitor.refusal.reason : monitor.value
  }
  const sctp = { ports: [{ protocol: 'SCTP', port: 3868, nodePort: 30868 }] }
  const udp = { ports: [{ protocol: 'UDP', port: 53, nodePort: 30053 }] }
  const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 32000 }

  test.each([
    [
      'TCP by default',
      {},
      {},
      'direct',
      { type: 'tcp', intervalMs: 1000, timeoutMs: 800, rise: 2, fall: 3, port: null },
    ],
    [
      'the knobs of K8',
      {},
      { delay: '3', timeout: '1s', retries: '4' },
      'direct',
      { intervalMs: 3000, timeoutMs: 1000, fall: 4 },
    ],
    ['a short delay shortens the time-out', {}, { delay: '500ms' }, 'direct', { intervalMs: 500, timeoutMs: 500 }],
    ['UDP endpoints: none', udp, {}, 'direct', null],
    ['SCTP endpoints by SCTP', sctp, {}, 'direct', { type: 'sctp', port: null }],
    ['SCTP node ports ask kube-proxy', sctp, {}, 'node-ports', { type: 'http', path: '/healthz', port: 10256 }],
    ['SCTP node ports by SCTP, where asked for', sctp, { '': 'sctp' }, 'node-ports', { type: 'sctp', port: null }],
    ['none', {}, { '': 'none' }, 'direct', null],
    ['node ports', {}, {}, 'node-ports', { type: 'tcp', port: null }],
    ['UDP node ports ask kube-proxy', udp, {}, 'node-ports', { type: 'http', path: '/healthz', port: 10256 }],
    ['policy Local asks healthCheckNodePort', local, {}, 'node-ports', { type: 'http', path: '/healthz', port: 32000 }],
    ['and nothing else', local, { '': 'none' }, 'node-ports', { type: 'http', port: 32000 }],
    ['directly, policy Local asks the endpoints', local, {}, 'direct', { type: 'tcp', port: null }],
    ['not given yet', { externalTrafficPolicy: 'Local' }, {}, 'node-ports', 'NoHealthCheckNodePort'],
    ['kube-proxy without node ports', {}, { '': 'kube-proxy' }, 'direct', 'InvalidAnnotation'],
    ['unknown type', {}, { '': 'icmp' }, 'direct', 'InvalidAnnotation'],
    ['time-out beyond delay', {}, { delay: '1', timeout: '2' }, 'direct', 'InvalidAnnotation'],
    ['retries out of range', {}, { retries: '11' }, 'direct', 'InvalidAnnotation'],
    ['no time', {}, { delay: '-1' }, 'direct', 'InvalidAnnotation'],
  ] as const)('%s', (_, spec, knobs, mode, wanted) => {
    const annotations = Object.entries(knobs).map(([name, value]) => [`spout.dev/monitor${name && `-${name}`}`, value])
    const monitor = of(spec, Object.fromEntries(annotations), mode)
    if (wanted === null || typeof wanted === 'string') expect(monitor).toBe(wanted)
    else expect(monitor).toMatchObject(wanted)
  })
})

describe('ports', () => {
  const of = (ports: object[], mode: Mode = 'direct') =>
    portsOf(service('a', { ports } as object), mode, all).map(({ key, error }) => `${key} ${error?.error ?? 'ok'}`)

  test('one number over two protocols; SCTP when it is not offered', () => {
    expect(
      of([
        { port: 53, protocol: 'UDP' },
        { port: 53, protocol: 'TCP' },
        { port: 9, protocol: 'SCTP' },
      ]),
    ).toEqual(['sctp/9 spout.dev/UnsupportedProtocol', 'tcp/53 ok', 'udp/53 ok'])
  })

  test('a port without node port cannot be reached by one', () => {
    expect(of([{ port: 80 }, { port: 81, nodePort: 30081 }], 'node-ports')).toEqual([
      'tcp/80 spout.dev/NoNodePort',
      'tcp/81 ok',
    ])
  })
})

describe('affinity', () => {
  test.each([
    [{}, null],
    [{ sessionAffinity: 'None' }, null],
    [{ sessionAffinity: 'ClientIP' }, 10_800],
    [{ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } }, 60],
  ] as const)('%j', (spec, timeoutSeconds) => {
    const wanted = timeoutSeconds === null ? null : { type: 'source-ip', timeoutSeconds }
    expect(persistenceOf(service('a', spec))).toEqual(wanted)
  })
})

describe('source ranges', () => {
  const of = (ranges: readonly string[], annotation = '') => {
    const one = sourceRangesOf(
      service(
        'a',
        { loadBalancerSourceRanges: ranges },
        {
          annotations: { 'service.beta.kubernetes.io/load-balancer-source-ranges': annotation },
        },
      ),
    )
    return 'refusal' in one ? one.refusal.reason : one.value
  }

  test('unset admits everybody, also after it was cleared', () => {
    expect(of([])).toBeNull()
    expect(of([], ' , ')).toBeNull()
  })
  test('both families, sorted, once, host bits cleared', () => {
    expect(of(['203.0.113.9/24', '2001:db8::1/32', ' 203.0.113.0/24'])).toEqual(['2001:db8::/32', '203.0.113.0/24'])
  })
  test('the older annotation, when the field is empty', () => {
    expect(of([], '10.0.0.0/8, 192.0.2.1/32')).toEqual(['10.0.0.0/8', '192.0.2.1/32'])
    expect(of(['10.0.0.0/8'], '0.0.0.0/0')).toEqual(['10.0.0.0/8'])
  })
  test('an unreadable range admits nobody: it is refused', () => {
    expect(of(['10.0.0.0'])).toBe('InvalidSourceRange')
    expect(of([], '10.0.0.0/8 0.0.0.0/0')).toBe('InvalidSourceRange')
    expect(of(Array.from({ length: 201 }, (_, at) => `10.0.${at}.0/24`))).toBe('TooManySourceRanges')
  })
})
