import type { Attributes } from '@spout/octavia-client'
import { describe, expect, test } from 'vitest'
import { apply } from './apply.ts'
import type { Found, Inventory } from './inventory.ts'
import type { Kind } from './kinds.ts'
import { planImport } from './plan.ts'
import type { PlanOptions, Step } from './step.ts'

const PROJECT = '11111111-2222-4333-8444-555555555555'

const one = (kind: Kind, id: string, attributes: Attributes, parentId: string | null = null): Found => ({
  ...{ kind, id, parentId },
  attributes: { id, name: id, ...attributes },
})

const lb = (attributes: Attributes = {}): Found =>
  one('loadbalancer', 'lb', {
    ...{ project_id: PROJECT, vip_address: '192.0.2.7', vip_subnet_id: 'theirs', vip_port_id: 'their-port' },
    ...attributes,
  })

const inventory = (loadBalancers: readonly Found[]): Inventory => ({
  ...{ loadBalancers, unread: [] },
  children: new Map(),
  byId: new Map(loadBalancers.map((each) => [each.id, each])),
})

const options = (fields: Partial<PlanOptions['destination']> = {}, map: Record<string, string> = {}): PlanOptions => ({
  destination: {
    projects: [{ id: PROJECT, name: 'shop' }],
    places: [{ id: 'public', name: 'public', cidr: '192.0.2.0/24', projectIds: null, kind: 'pool' }],
    ...{ certificateIds: new Set(), flavorIds: new Set(), zoneNames: new Set(), providers: new Set(['spout']) },
    ...{ nodeGroups: new Set(['edge']), networkIds: new Set(['net']), groupProjects: new Map(), usualLimits: {} },
    profileKeys: {
      flavorprofile: new Set(['node_group', 'connection_limit']),
      availability_zone_profile: new Set(['compute_zone', 'valid_vip_networks']),
    },
    ...fields,
  },
  replacements: new Map(Object.entries(map)),
  disabled: false,
  newTrial: () => ({ add: () => null }),
})

const plan = (
  loadBalancers: readonly Found[],
  found: readonly Found[],
  { given = options(), there = [] }: { readonly given?: PlanOptions; readonly there?: readonly Found[] } = {},
): readonly Step[] =>
  planImport(
    { inventory: inventory(loadBalancers), surroundings: { found, unread: [] } },
    { inventory: inventory([]), surroundings: { found: there, unread: [] } },
    given,
  ).steps
const texts = (steps: readonly Step[]) =>
  steps.map(({ kind, result, notes }) => [kind, result, ...notes.map(({ field, text }) => `${field}: ${text}`)])

describe('flavors and zones', () => {
  const profile = (data: object) =>
    one('flavorprofile', 'p', { provider_name: 'amphora', flavor_data: JSON.stringify(data) })
  const flavor = one('flavor', 'f', { flavor_profile_id: 'p', enabled: false })

  test('keep what has a meaning, and say the rest', () => {
    const [first, second, third] = plan(
      [lb({ flavor_id: 'f' })],
      [profile({ node_group: 'edge', sriov_vip: true, x: 1 }), flavor],
    )
    expect(first).toMatchObject({
      request: { body: { id: 'p', provider_name: 'spout', flavor_data: '{"node_group":"edge"}' } },
    })
    expect(first?.notes.map(({ field, text }) => `${field}: ${text}`)).toEqual([
      'provider_name: is spout: Spout has no provider amphora',
      'flavor_data.sriov_vip: left out (true): nodes have their own network cards',
      'flavor_data.x: left out (1): it has no meaning in Spout',
    ])
    expect(second).toMatchObject({
      needs: ['p'],
      request: { body: { id: 'f', enabled: false, flavor_profile_id: 'p' } },
    })
    expect(third).toMatchObject({ needs: ['f'], request: { body: { flavor_id: 'f' } } })
  })

  test('are taken from Spout where an administrator says so', () => {
    const given = options({ flavorIds: new Set(['ours']) }, { f: 'ours' })
    const steps = plan([lb({ flavor_id: 'f' })], [flavor], { given })
    expect(steps).toMatchObject([{ kind: 'loadbalancer', request: { body: { flavor_id: 'ours' } } }])
  })

  test.each<[string, Found]>([
    ['flavor_data: is not a JSON object', one('flavorprofile', 'p', { flavor_data: '[1' })],
    ['flavor_profile_id: profile p is not in Spout, and the other cloud does not show it to this account', flavor],
    [
      'availability_zone_data.valid_vip_networks: Spout has no network and no address pool far: name one (--map far=ID)',
      one('availability_zone_profile', 'p', { availability_zone_data: '{"valid_vip_networks":["net","far"]}' }),
    ],
  ])('are not taken over: %s', (text, found) => {
    expect(texts(plan([], [found]))).toEqual([[found.kind, 'refused', text]])
  })

  test('are not taken over without their profile, and the load balancer is, without them', () => {
    const steps = plan([lb({ flavor_id: 'f' })], [one('flavorprofile', 'p', { flavor_data: '7' }), flavor])
    expect(texts(steps).slice(1)).toEqual([
      ['flavor', 'refused', 'flavor_profile_id: flavor profile p (p) is not taken over'],
      ['loadbalancer', 'create', 'flavor_id: left out: Spout has no flavor f'],
    ])
  })
})

test('a quota without limits of its own is none, and one that is as usual here is equal', () => {
  const given = options({ usualLimits: { loadbalancer: 10, pool: 1_000_000 } })
  const quota = (limits: Attributes) =>
    plan([], [one('quota', PROJECT.replaceAll('-', ''), { project_id: PROJECT, ...limits })], { given })
  expect(quota({ loadbalancer: null, l7rule: null })).toEqual([])
  expect(texts(quota({ loadbalancer: 10, pool: -1 }))).toEqual([['quota', 'equal']])
  expect(quota({ loadbalancer: 5_000_000 })).toMatchObject([
    {
      ...{ result: 'create', notes: [{ field: 'loadbalancer', text: 'is 1000000, the largest limit of Spout' }] },
      request: { method: 'update', path: `/quotas/${PROJECT}`, body: { loadbalancer: 1_000_000 } },
    },
  ])
})

describe('security groups', () => {
  const rule = (id: string, attributes: Attributes) =>
    one('security_group_rule', id, { direction: 'ingress', ethertype: 'IPv4', ...attributes }, 'g')
  const rules = [
    rule('tcp', { protocol: 'tcp', port_range_min: 80, port_range_max: 80 }),
    rule('out', { direction: 'egress' }),
    rule('ping', { protocol: 'icmp' }),
    rule('group', { protocol: 'tcp', remote_group_id: 'g' }),
  ]
  const group = one('security_group', 'g', {
    ...{ project_id: PROJECT, stateful: false },
    security_group_rules: rules.map(({ attributes }) => attributes),
  })

  test('leave out what means nothing to listeners, and refuse rules of sources that are unknown', () => {
    const steps = plan([lb({ vip_sg_ids: ['g'] })], [group, ...rules])
    expect(texts(steps)).toEqual([
      [
        ...['security_group', 'create'],
        'security_group_rules: 1 for egress left out: load balancers reach all their members',
        'security_group_rules: 1 of other protocols than TCP, UDP and SCTP left out: listeners speak no other, and pings are answered',
        'stateful: left out: replies of a load balancer always pass',
      ],
      ['security_group_rule', 'create'],
      [
        ...['security_group_rule', 'refused'],
        'remote_group_id: sources are prefixes in Spout, and who is in another group is not known: write rules with remote_ip_prefix',
      ],
      ['loadbalancer', 'create'],
    ])
    expect(steps.at(-1)).toMatchObject({ needs: ['g'], request: { body: { vip_sg_ids: ['g'] } } })
  })

  test('count a rule of the same meaning as the same', () => {
    const ours = one('security_group', 'g', {
      ...{ project_id: PROJECT },
      security_group_rules: [{ ...rules[0]!.attributes, id: 'another', protocol: 'TCP' }],
    })
    const steps = plan([], [group, rules[0]!], { there: [ours] })
    expect(texts(steps)[1]).toEqual(['security_group_rule', 'equal'])
  })

  test('of a project that is not here keep their load balancers away, which would let in others', () => {
    const foreign = one('security_group', 'g', { project_id: 'x', security_group_rules: [] })
    expect(texts(plan([lb({ vip_sg_ids: ['g'] })], [foreign])).map(([kind, result]) => [kind, result])).toEqual([
      ['security_group', 'refused'],
      ['loadbalancer', 'refused'],
    ])
  })
})

describe('a floating IP', () => {
  const floating = one('floatingip', 'fip', {
    ...{ name: undefined, floating_ip_address: '192.0.2.99', floating_network_id: 'ext', port_id: 'their-port' },
    ...{ project_id: PROJECT, qos_policy_id: 'slow' },
  })

  test('is bound to the port that its load balancer gets', async () => {
    const steps = plan([lb()], [floating])
    expect(texts(steps)[1]).toEqual([
      'floatingip',
      'create',
      'qos_policy_id: left out: networks of Spout have no QoS policies',
    ])
    const asked: Attributes[] = []
    const outcomes = await apply(steps, {
      octavia: { create: async () => ({ vip_port_id: 'our-port' }), update: async () => ({}) },
      neutron: {
        create: async (_path, _root, body) => {
          asked.push(body)
          return {}
        },
      },
      onOutcome: () => {},
    })
    expect(outcomes.map(({ result }) => result)).toEqual(['created', 'created'])
    expect(asked).toEqual([
      {
        ...{ id: 'fip', project_id: PROJECT, floating_ip_address: '192.0.2.99', floating_network_id: 'public' },
        port_id: 'our-port',
      },
    ])
  })

  test('stays away with its load balancer', () => {
    expect(texts(plan([lb({ vip_address: '203.0.113.9' })], [floating]))[1]).toEqual([
      ...['floatingip', 'refused', 'port_id: load balancer lb (lb) is not taken over'],
    ])
  })

  test('of another project is not taken over', () => {
    const given = options({ projects: [PROJECT, 'other'].map((id) => ({ id, name: id })) })
    const foreign = { ...floating, attributes: { ...floating.attributes, project_id: 'other' } }
    expect(texts(plan([lb()], [foreign], { given }))[1]).toEqual([
      ...['floatingip', 'refused'],
      `project_id: is other, and that of the load balancer is ${PROJECT}: they must be the same`,
    ])
  })
})
