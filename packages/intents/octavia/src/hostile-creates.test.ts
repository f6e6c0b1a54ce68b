import { byLength } from '@spout/testkit/long-tests'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { monitorResource } from './resources/health-monitor.ts'
import { policyResource } from './resources/l7policy.ts'
import { ruleResource } from './resources/l7rule.ts'
import { listenerResource } from './resources/listener.ts'
import { loadBalancerResource } from './resources/load-balancer.ts'
import { memberResource } from './resources/member.ts'
import { poolResource } from './resources/pool.ts'
import { TestService } from './testing/service.ts'

/**
 * Like `hostile-text.test.ts`, for attributes that only a creation sets: addresses, ids, protocols, types, whole
 * graphs.
 */

let service: TestService
let lbId = ''
/** Where objects of a kind are created, and a body that would be accepted. */
const creations = new Map<string, readonly [path: string, body: object]>()

/** Children of a load balancer have its project, whatever project the request names. */
const INHERITED = new Set(['project_id', 'tenant_id'])
const ATTRIBUTES = [
  ...[loadBalancerResource, listenerResource, poolResource, memberResource],
  ...[monitorResource, policyResource, ruleResource],
].flatMap(({ root, fields }) =>
  [...fields].flatMap(({ name, create, update }): readonly (readonly [root: string, name: string])[] =>
    create !== undefined && !update && !(INHERITED.has(name) && root !== 'loadbalancer') ? [[root, name]] : [],
  ),
)

beforeAll(async () => {
  service = await TestService.start()
  const { pool: subnet } = service.ids
  const lb = await service.make('/loadbalancers', 'loadbalancer', { vip_subnet_id: subnet })
  lbId = lb.id
  const of = { loadbalancer_id: lbId }
  const listener = await service.make('/listeners', 'listener', { ...of, protocol: 'HTTP', protocol_port: 80 })
  const balanced = { ...of, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' }
  const pool = await service.make('/pools', 'pool', balanced)
  const policy = await service.make('/l7policies', 'l7policy', { listener_id: listener.id, action: 'REJECT' })
  creations.set('loadbalancer', ['/loadbalancers', { vip_subnet_id: subnet }])
  creations.set('listener', ['/listeners', { ...of, protocol: 'HTTP', protocol_port: 81 }])
  creations.set('pool', ['/pools', balanced])
  creations.set('member', [`/pools/${pool.id}/members`, { address: '10.0.0.9', protocol_port: 80 }])
  creations.set('healthmonitor', [
    '/healthmonitors',
    { pool_id: pool.id, type: 'TCP', delay: 5, timeout: 3, max_retries: 2 },
  ])
  creations.set('l7policy', ['/l7policies', { listener_id: listener.id, action: 'REJECT' }])
  creations.set('rule', [`/l7policies/${policy.id}/rules`, { type: 'PATH', compare_type: 'EQUAL_TO', value: '/a' }])
})
afterAll(() => service.stop())

const ENDS = [
  '\n',
  '\r',
  '\0',
  '\x1b',
  '\x7f',
  '\u2028',
  '\ud800',
  ' ',
  '"',
  "'",
  '#',
  '\\',
  '%[',
  '$(id)',
  '<<',
  '/..',
]
/** Not a number: a number before white space is one for Octavia, too (Python's `int()`). */
const STARTS = ['', 'x', '10.0.0.9', 'fd00::9', 'TCP', 'spout', '00000000-0000-4000-8000-000000000000', '1x']
const SHAPES: readonly ((text: string) => unknown)[] = [
  (text) => text,
  (text) => [text],
  (text) => ({ [text]: text }),
  (text) => [{ subnet_id: text, ip_address: text, address: text, protocol_port: text, name: text }],
  (text) => ({ name: text, protocol: text, type: text, lb_algorithm: text }),
]

test('is refused with a reason, and nothing is made', { timeout: 60_000 }, async () => {
  expect(ATTRIBUTES.length).toBeGreaterThan(20)
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...ATTRIBUTES),
      fc.constantFrom(...STARTS),
      fc.constantFrom(...ENDS),
      fc.constantFrom(...SHAPES),
      async ([root, name], start, end, shape) => {
        const [path, body] = creations.get(root)!
        const before = service.view.get('loadBalancer', lbId)
        const had = [...service.view.list('loadBalancer')].length
        const sent = { [root]: { ...body, [name]: shape(`${start}${end}`) } }
        const { status, body: said } = await service.call('POST', path, sent)
        expect([400, 403, 404, 409, 501], `${status} ${JSON.stringify(sent)}`).toContain(status)
        expect(said).toMatchObject({ faultstring: expect.stringMatching(/./) })
        expect(service.view.get('loadBalancer', lbId)).toEqual(before)
        expect([...service.view.list('loadBalancer')].length).toBe(had)
      },
    ),
    { numRuns: byLength(300, 10_000) },
  )
})
