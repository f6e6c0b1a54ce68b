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
 * Text that ends a line, a word or a string somewhere, in every attribute of every object that a tenant has, also where
 * no text belongs. It is refused and changes nothing, or it is kept as it was sent; and only where people alone read
 * it, in names, descriptions and tags, may it hold what ends a line.
 */

let service: TestService
let lbId = ''
/** Path of an object of each kind. */
const paths = new Map<string, string>()

const RESOURCES = [
  loadBalancerResource,
  listenerResource,
  poolResource,
  memberResource,
  monitorResource,
  policyResource,
  ruleResource,
]
const ATTRIBUTES = RESOURCES.flatMap(({ root, fields }) =>
  [...fields].flatMap(({ name, update }): readonly (readonly [root: string, name: string])[] =>
    update ? [[root, name]] : [],
  ),
)

beforeAll(async () => {
  service = await TestService.start()
  const lb = await service.make('/loadbalancers', 'loadbalancer', { vip_subnet_id: service.ids.pool })
  lbId = lb.id
  const of = { loadbalancer_id: lbId }
  const listener = await service.make('/listeners', 'listener', { ...of, protocol: 'HTTP', protocol_port: 80 })
  const pool = await service.make('/pools', 'pool', {
    ...{ ...of, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' },
    session_persistence: { type: 'APP_COOKIE', cookie_name: 'session' },
  })
  const member = await service.make(`/pools/${pool.id}/members`, 'member', { address: '10.0.0.9', protocol_port: 80 })
  const monitor = await service.make('/healthmonitors', 'healthmonitor', {
    ...{ pool_id: pool.id, type: 'HTTP', delay: 5, timeout: 3, max_retries: 2 },
    ...{ http_version: 1.1, domain_name: 'a.example' },
  })
  const policy = await service.make('/l7policies', 'l7policy', {
    ...{ listener_id: listener.id, action: 'REDIRECT_TO_URL', redirect_url: 'http://a.example/' },
  })
  const rules = `/l7policies/${policy.id}/rules`
  const rule = await service.make(rules, 'rule', { type: 'HEADER', compare_type: 'EQUAL_TO', key: 'x-a', value: 'b' })
  paths.set('loadbalancer', `/loadbalancers/${lbId}`)
  paths.set('listener', `/listeners/${listener.id}`)
  paths.set('pool', `/pools/${pool.id}`)
  paths.set('member', `/pools/${pool.id}/members/${member.id}`)
  paths.set('healthmonitor', `/healthmonitors/${monitor.id}`)
  paths.set('l7policy', `/l7policies/${policy.id}`)
  paths.set('rule', `${rules}/${rule.id}`)
})
afterAll(() => service.stop())

const ENDS = [
  ...['\n', '\r', '\0', '\t', '\v', '\x1b', '\x7f', '\u0085', '\u00a0', '\u2028', '\u202e', '\ud800', ' '],
  ...['"', "'", '`', '#', '\\', '{', '}', '%', '%[', '[', ']', ';', '$(id)', '%0a', '%00', '<<', '\n\nset maxconn 7\n'],
]
/** Texts that some attribute accepts, so that only the appended end can be the reason for a refusal. */
const STARTS = ['', 'x', '/x', 'a.example', 'http://a.example/x', 'ECDHE-RSA-AES128-GCM-SHA256', '200', '10.0.0.9', '1']
/** The places for a text: alone, in a list, or in an object. */
const SHAPES: readonly ((text: string) => unknown)[] = [
  (text) => text,
  (text) => [text],
  (text) => ({ [text]: 'true' }),
  (text) => ({ 'X-Forwarded-For': text }),
  (text) => ({ type: 'APP_COOKIE', cookie_name: text }),
]

/** The attributes that only people read. */
const FREE = new Set(['name', 'description', 'tags'])
/**
 * What a node may get: the stored object without that and without annotations, which no node has, and without the
 * backslashes that JSON writes for one and before quotes. A condition has a `name`, too, which is no object's.
 */
const carried = (): string =>
  JSON.stringify(service.view.get('loadBalancer', lbId)!.value, function (this: object, key, value) {
    return key === 'annotations' || (FREE.has(key) && 'createdAt' in this) ? null : value
  })
    .replaceAll('\\\\', '')
    .replaceAll('\\"', '')

const LONGEST_MS = byLength(20_000, 600_000)

test('is refused and changes nothing, or is kept and carried nowhere', { timeout: LONGEST_MS }, async () => {
  let [kept, refused] = [0, 0]
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...ATTRIBUTES),
      fc.constantFrom(...STARTS),
      fc.constantFrom(...ENDS),
      fc.constantFrom(...SHAPES),
      fc.constantFrom('', 'y'),
      async ([root, name], start, end, shape, rest) => {
        const value = shape(`${start}${end}${rest}`)
        const before = service.view.get('loadBalancer', lbId)!
        const { status, body } = await service.call('PUT', paths.get(root)!, { [root]: { [name]: value } })
        if (status === 200) {
          kept++
          expect(carried()).toMatch(/^[ -~]*$/)
          expect(carried()).not.toContain('\\')
          if (FREE.has(name)) expect((body as Record<string, object>)[root]).toMatchObject({ [name]: value })
          return
        }
        refused++
        expect([400, 404, 409, 501]).toContain(status)
        expect(body).toMatchObject({ faultstring: expect.stringMatching(/./) })
        expect(service.view.get('loadBalancer', lbId)!).toEqual(before)
      },
    ),
    { numRuns: byLength(1_500, 30_000) },
  )
  expect(kept).toBeGreaterThan(0)
  expect(refused).toBeGreaterThan(0)
})
