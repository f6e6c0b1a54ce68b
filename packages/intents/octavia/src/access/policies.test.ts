import { ROLES, type Role } from '@spout/model'
import { LONG_TESTS } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LBAAS_ROUTES, OCTAVIA_ROUTES } from '../routes/every-route.ts'
import { type OneRole, TestService } from '../testing/service.ts'
import { DEFAULT_POLICY_SET, POLICY_SET_NAMES, type PolicySetName, RULES, type Rule } from './policies.ts'

/** The rule of each endpoint, from `octavia/policies/*.py`. Children come before their parents. */
const ENDPOINTS: Readonly<Record<string, Rule>> = {
  'GET /loadbalancers': 'read',
  'POST /loadbalancers': 'write',
  'GET /loadbalancers/:lb': 'read',
  'GET /loadbalancers/:lb/stats': 'read',
  'GET /loadbalancers/:lb/status': 'read',
  'GET /loadbalancers/:lb/statuses': 'read',
  'PUT /loadbalancers/:lb/failover': 'admin',
  'PUT /loadbalancers/:lb': 'write',
  'GET /listeners': 'read',
  'POST /listeners': 'write',
  'GET /listeners/:listener': 'read',
  'GET /listeners/:listener/stats': 'read',
  'PUT /listeners/:listener': 'write',
  'GET /pools': 'read',
  'POST /pools': 'write',
  'GET /pools/:pool': 'read',
  'PUT /pools/:pool': 'write',
  'GET /pools/:pool/members': 'read',
  'POST /pools/:pool/members': 'write',
  'PUT /pools/:pool/members': 'write',
  'GET /pools/:pool/members/:member': 'read',
  'PUT /pools/:pool/members/:member': 'write',
  'GET /healthmonitors': 'read',
  'POST /healthmonitors': 'write',
  'GET /healthmonitors/:monitor': 'read',
  'PUT /healthmonitors/:monitor': 'write',
  'GET /l7policies': 'read',
  'POST /l7policies': 'write',
  'GET /l7policies/:policy': 'read',
  'PUT /l7policies/:policy': 'write',
  'GET /l7policies/:policy/rules': 'read',
  'POST /l7policies/:policy/rules': 'write',
  'GET /l7policies/:policy/rules/:rule': 'read',
  'PUT /l7policies/:policy/rules/:rule': 'write',
  'DELETE /l7policies/:policy/rules/:rule': 'write',
  'DELETE /l7policies/:policy': 'write',
  'DELETE /healthmonitors/:monitor': 'write',
  'DELETE /pools/:pool/members/:member': 'write',
  'DELETE /pools/:pool': 'write',
  'DELETE /listeners/:listener': 'write',
  'DELETE /loadbalancers/:lb': 'write',
  'GET /quotas': 'read-quota',
  'GET /quotas/:project': 'read-quota',
  'GET /quotas/:project/default': 'read-quota',
  'PUT /quotas/:project': 'write-quota',
  'DELETE /quotas/:project': 'write-quota',
  'GET /providers': 'read',
  'GET /providers/:provider/flavor_capabilities': 'admin',
  'GET /providers/:provider/availability_zone_capabilities': 'admin',
  'GET /flavors': 'read',
  'POST /flavors': 'admin',
  'GET /flavors/:absent': 'read',
  'PUT /flavors/:absent': 'admin',
  'DELETE /flavors/:absent': 'admin',
  'GET /availabilityzones': 'read',
  'POST /availabilityzones': 'admin',
  'GET /availabilityzones/:absent': 'read',
  'PUT /availabilityzones/:absent': 'admin',
  'DELETE /availabilityzones/:absent': 'admin',
  'GET /flavorprofiles': 'admin',
  'POST /flavorprofiles': 'admin',
  'GET /flavorprofiles/:absent': 'admin',
  'PUT /flavorprofiles/:absent': 'admin',
  'DELETE /flavorprofiles/:absent': 'admin',
  'GET /availabilityzoneprofiles': 'admin',
  'POST /availabilityzoneprofiles': 'admin',
  'GET /availabilityzoneprofiles/:absent': 'admin',
  'PUT /availabilityzoneprofiles/:absent': 'admin',
  'DELETE /availabilityzoneprofiles/:absent': 'admin',
  'GET /amphorae': 'admin',
  'GET /amphorae/:absent': 'admin',
  'GET /amphorae/:absent/stats': 'admin',
  'PUT /amphorae/:absent/config': 'admin',
  'PUT /amphorae/:absent/failover': 'admin',
  'DELETE /amphorae/:absent': 'admin',
}

/** Endpoints of objects without a project. Everybody who may read them reads the same. */
const OF_NOBODY = /^\S+ \/(providers|flavors|availabilityzones|flavorprofiles|availabilityzoneprofiles|amphorae)/

/**
 * How far each role reaches: `-` nowhere, `o` in its own project, `a` everywhere, for read, write, read-quota,
 * write-quota and admin. What is not here reaches nowhere. From `etc/policy/*.yaml`.
 */
const REACH: Readonly<Record<PolicySetName, Readonly<Partial<Record<Role | 'any', string>>>>> = {
  'keystone-default-roles': { admin: 'aaaaa', member: 'ooo--', reader: 'o-o--', 'load-balancer_admin': '----a' },
  'advanced-roles': {
    admin: 'aaaaa',
    'load-balancer_admin': 'aaaaa',
    'load-balancer_member': 'ooo--',
    'load-balancer_observer': 'o-o--',
    'load-balancer_global_observer': 'a-a--',
    'load-balancer_quota_admin': '--aa-',
  },
  'keystone-and-advanced-roles': {
    admin: 'aaaaa',
    member: 'ooo--',
    reader: 'o-o--',
    'load-balancer_admin': 'aaaaa',
    'load-balancer_member': 'ooo--',
    'load-balancer_observer': 'o-o--',
    'load-balancer_global_observer': 'a-a--',
    'load-balancer_quota_admin': '--aa-',
  },
  'owner-or-admin': {
    admin: 'aaaaa',
    member: 'ooo--',
    reader: 'ooo--',
    'load-balancer_admin': 'aaaaa',
    'load-balancer_member': 'ooo--',
    'load-balancer_observer': 'ooo--',
    'load-balancer_global_observer': 'ooo--',
    'load-balancer_quota_admin': 'ooo--',
    any: 'ooo--',
  },
}

const ABSENT = '6f1c3b1e-6a4e-4c56-9f0b-000000000009'

/** A load balancer with one of everything, and a body for each endpoint that takes one. */
async function newGraph(service: TestService) {
  const make = async (path: string, root: string, fields: object): Promise<string> =>
    (await service.make(path, root, fields, 'admin')).id
  const vip = { vip_subnet_id: service.ids.subnet, project_id: service.ids.project }
  const lb = await make('/loadbalancers', 'loadbalancer', vip)
  const front = { loadbalancer_id: lb, protocol: 'HTTP' }
  const listener = await make('/listeners', 'listener', { ...front, protocol_port: 80 })
  const balanced = { ...front, lb_algorithm: 'ROUND_ROBIN' }
  const pool = await make('/pools', 'pool', balanced)
  const probe = { type: 'TCP', delay: 5, timeout: 3, max_retries: 3 }
  const monitor = await make('/healthmonitors', 'healthmonitor', { pool_id: pool, ...probe })
  const served = { address: '10.0.6.1', protocol_port: 80 }
  const member = await make(`/pools/${pool}/members`, 'member', served)
  const rejects = { listener_id: listener, action: 'REJECT' }
  const policy = await make('/l7policies', 'l7policy', rejects)
  const path = { type: 'PATH', compare_type: 'EQUAL_TO', value: '/x' }
  const rule = await make(`/l7policies/${policy}/rules`, 'rule', path)
  const ids = { lb, listener, pool, monitor, member, policy, rule, project: service.ids.project }
  const bodies: Readonly<Record<string, object>> = {
    'POST /loadbalancers': { loadbalancer: vip },
    'POST /listeners': { listener: { ...front, protocol_port: 81 } },
    'POST /pools': { pool: balanced },
    // This passes the policy and is refused later, because the pool has a monitor already.
    'POST /healthmonitors': { healthmonitor: { pool_id: pool, ...probe } },
    'POST /pools/:pool/members': { member: { ...served, protocol_port: 81 } },
    'PUT /pools/:pool/members': { members: [served] },
    'POST /l7policies': { l7policy: rejects },
    'POST /l7policies/:policy/rules': { rule: path },
  }
  return { ids: { ...ids, provider: 'spout', absent: ABSENT }, bodies }
}

test('every endpoint has a rule', () => {
  const own = [...LBAAS_ROUTES, ...OCTAVIA_ROUTES]
  const plain = (key: string) => key.replaceAll(/:\w+/g, ':')
  expect(own.map(({ method, path }) => plain(`${method} ${path}`)).toSorted()).toEqual(
    Object.keys(ENDPOINTS).map(plain).toSorted(),
  )
})

/**
 * The endpoints that are tried: of a set that is not the default's, the first two of each rule, unless tests may be
 * long.
 */
function triedUnder(set: PolicySetName): readonly (readonly [endpoint: string, rule: Rule])[] {
  const all = Object.entries(ENDPOINTS)
  if (LONG_TESTS || set === DEFAULT_POLICY_SET) return all
  return [...Map.groupBy(all, ([, rule]) => rule).values()].flatMap((some) => some.slice(0, 2))
}

/** Lists that span projects. */
const LISTS = ['loadbalancers', 'listeners', 'pools', 'healthmonitors', 'l7policies']

describe.each(POLICY_SET_NAMES)('policy set %s', (set) => {
  let service: TestService
  beforeAll(async () => {
    service = await TestService.start(undefined, set)
  })
  afterAll(() => service.stop())

  const holders = [...ROLES, 'any' as const].flatMap((role) =>
    (['project', 'otherProject'] as const).map((project) => [role, project] as const),
  )
  test.each(holders)('%s in %s', async (role, project) => {
    const who: OneRole = `${role} in ${project}`
    const reach = (rule: Rule) => (REACH[set][role] ?? '-----')[RULES.indexOf(rule)]
    const { ids, bodies } = await newGraph(service)
    const listReach = reach('read')
    for (const plural of LISTS) {
      const { status, body } = await service.call('GET', `/${plural}`, undefined, who)
      const items = (body as Record<string, { project_id: string }[]>)[plural] ?? []
      const sees = listReach === 'a' || (listReach === 'o' && project === 'project')
      expect([plural, status, items.some((item) => item.project_id === ids.project)]).toEqual([
        plural,
        listReach === '-' ? 403 : 200,
        sees,
      ])
    }
    const answers: Record<string, boolean> = {}
    const tried = triedUnder(set)
    for (const [endpoint] of tried) {
      const [method = '', path = ''] = endpoint.split(' ')
      const filled = path.replaceAll(/:(\w+)/g, (_, name: keyof typeof ids) => ids[name])
      const url = path.startsWith('/amphorae') ? `/v2/octavia${filled}` : filled
      const spans = method === 'GET' && [...LISTS, 'quotas'].includes(path.slice(1))
      const body = method === 'PUT' || method === 'POST' ? (bodies[endpoint] ?? {}) : undefined
      const { status } = await service.call(
        method as 'GET' | 'POST' | 'PUT' | 'DELETE',
        spans ? `${url}?project_id=${ids.project}` : url,
        body,
        who,
      )
      answers[endpoint] = status !== 403
    }
    const allowed = (endpoint: string, rule: Rule): boolean =>
      reach(rule) === 'a' || (reach(rule) === 'o' && (project === 'project' || OF_NOBODY.test(endpoint)))
    expect(answers).toEqual(Object.fromEntries(tried.map(([endpoint, rule]) => [endpoint, allowed(endpoint, rule)])))
    if (service.view.get('loadBalancer', ids.lb) !== null)
      await service.admission.deleteLoadBalancer(ids.lb, { cascade: true })
  })
})
