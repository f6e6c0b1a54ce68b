import { eligibleNodes } from '@spout/connector'
import { describe, expect, test } from 'vitest'
import { endpoint, node, service, slice, uid } from '../testing/objects.ts'
import { draftOf, groupContent } from './draft.ts'

const nodes = eligibleNodes([node('n2', '10.0.0.2'), node('n1', '10.0.0.1')])
const slices = [
  slice('web', [endpoint('10.1.0.2'), endpoint('10.1.0.1')]),
  slice('web', [endpoint('2001:db8::1')], { name: 'web-6', addressType: 'IPv6' }),
]

const CASES = {
  plain: service('web'),
  everything: service(
    'web',
    {
      ipFamilies: ['IPv6', 'IPv4'],
      ipFamilyPolicy: 'RequireDualStack',
      ports: [
        { name: 'http', port: 80, targetPort: 'web' },
        { name: 'dns', port: 53, protocol: 'UDP', targetPort: 5353 },
        { name: 'sig', port: 3868, protocol: 'SCTP', targetPort: 3868 },
      ],
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 600 } },
      loadBalancerSourceRanges: ['203.0.113.0/24', '2001:db8:f::/48'],
    },
    {
      annotations: {
        'spout.dev/load-balancer-ips': '198.51.100.7,2001:db8:1::7',
        'spout.dev/address-pool': 'public,six',
        'spout.dev/monitor-delay': '3',
        'spout.dev/monitor-timeout': '1',
        'spout.dev/monitor-retries': '3',
        'spout.dev/drain-time': '30s',
        'spout.dev/prefer-zone': 'a',
      },
    },
  ),
  'node-ports-local': service(
    'web',
    { externalTrafficPolicy: 'Local', healthCheckNodePort: 32000 },
    { annotations: { 'spout.dev/mode': 'node-ports' } },
  ),
  'node-ports-udp': service(
    'web',
    { ports: [{ port: 53, protocol: 'UDP', nodePort: 30053 }] },
    { annotations: { 'spout.dev/mode': 'node-ports' } },
  ),
} as const

describe('a Service as a load balancer', () => {
  test.each(Object.entries(CASES))('%s', async (name, one) => {
    const draft = draftOf(one, { slices, nodes, mode: 'direct' })
    if ('refusal' in draft) throw new Error(draft.refusal.message)
    const { request, notice, ports } = draft.value
    const content = groupContent([{ draft: draft.value, taken: new Set() }], 'cluster')
    const errors = ports.flatMap(({ port }) => (port.error === null ? [] : [[port.key, port.error]]))
    const shown = `${JSON.stringify({ request, notice, errors, content }, null, 2)}\n`
    await expect(shown).toMatchFileSnapshot(`./testdata/${name}.json`)
  })

  test.each([
    ['no ports', { ports: [] }, {}, 'NoPorts'],
    [
      'no port that can be served',
      { allocateLoadBalancerNodePorts: false, ports: [{ port: 80 }] },
      { 'spout.dev/mode': 'node-ports' },
      'NoServablePort',
    ],
    ['an unknown mode', {}, { 'spout.dev/mode': 'both' }, 'InvalidAnnotation'],
    ['a source range', { loadBalancerSourceRanges: ['x'] }, {}, 'InvalidSourceRange'],
    ['an address', { loadBalancerIP: 'x' }, {}, 'InvalidAddress'],
    [
      'a namespace to share with',
      {},
      { 'spout.dev/allow-shared-ip': 'k', 'spout.dev/share-with-namespaces': 'A' },
      'InvalidAnnotation',
    ],
  ] as const)('refused: %s', (_, spec, annotations, reason) => {
    const draft = draftOf(service('web', spec, { annotations }), { slices, nodes, mode: 'direct' })
    expect(draft).toMatchObject({
      refusal: { reason, field: expect.stringMatching(/\S/), message: expect.stringMatching(/\.$|it/) },
    })
  })

  test('two Services of one address: the older one first, taken ports left out', () => {
    const drafts = [
      service('b', {}, { uid: uid(2) }),
      service('a', {}, { uid: uid(1), creationTimestamp: '2026-01-02T00:00:00Z' }),
    ].map((one) => draftOf(one, { slices, nodes, mode: 'direct' }))
    const content = groupContent(
      drafts.map((draft, at) => {
        if ('refusal' in draft) throw new Error()
        return { draft: draft.value, taken: new Set(at === 1 ? (['tcp/80'] as const) : []) }
      }),
      'cluster',
    )
    expect(content.name).toBe('shop/b')
    expect(content.listeners).toHaveLength(1)
    expect(Object.values(content.annotations)).toEqual(['cluster', 'shop/a', 'shop/b'])
  })
})
