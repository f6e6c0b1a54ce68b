import type { Attributes } from '@spout/octavia-client'
import { ApiRefusal } from '@spout/octavia-client'
import { describe, expect, test } from 'vitest'
import { apply, type Outcome } from './apply.ts'
import type { Found, Inventory } from './inventory.ts'
import type { Kind } from './kinds.ts'
import { planImport } from './plan.ts'
import type { PlanOptions, Step } from './step.ts'

const PROJECT = '11111111-2222-4333-8444-555555555555'

const one = (kind: Kind, id: string, parentId: string | null, attributes: Attributes): Found => ({
  ...{ kind, id, parentId },
  attributes: { id, name: id, ...attributes },
})

const lb = (attributes: Attributes = {}): Found =>
  one('loadbalancer', 'lb', null, {
    ...{
      project_id: PROJECT.replaceAll('-', ''),
      vip_address: '192.0.2.7',
      vip_subnet_id: 'theirs',
      admin_state_up: true,
    },
    ...attributes,
  })

const CHILDREN = [
  one('pool', 'pool', 'lb', { protocol: 'HTTP' }),
  one('member', 'member', 'pool', { address: '10.0.0.9', protocol_port: 80, subnet_id: 'their-members' }),
  one('listener', 'listener', 'lb', { protocol: 'HTTP', protocol_port: 80, default_pool_id: 'pool' }),
  one('l7policy', 'policy', 'listener', { action: 'REJECT', position: 1 }),
  one('rule', 'rule', 'policy', { type: 'PATH', value: '/' }),
]

const inventory = (loadBalancers: readonly Found[], children: readonly Found[]): Inventory => ({
  loadBalancers,
  children: new Map(loadBalancers.map(({ id }) => [id, children])),
  byId: new Map([...loadBalancers, ...children].map((each) => [each.id, each])),
  unread: [],
})
const NOTHING = inventory([], [])
const alone = (side: Inventory) => ({ inventory: side, surroundings: { found: [], unread: [] } })
const planOf = (source: Inventory, target: Inventory, given: PlanOptions) =>
  planImport(alone(source), alone(target), given)

const options = (fields: Partial<PlanOptions> = {}): PlanOptions => ({
  destination: {
    projects: [{ id: PROJECT, name: 'shop' }],
    places: [
      { id: 'public', name: 'public', cidr: '192.0.2.0/24', projectIds: null, kind: 'pool' },
      { id: 'members', name: 'members', cidr: '10.0.0.0/24', projectIds: [PROJECT], kind: 'subnet' },
    ],
    ...{
      certificateIds: new Set(['cert']),
      flavorIds: new Set(),
      zoneNames: new Set(),
      providers: new Set(['amphora']),
      ...{ nodeGroups: new Set(), networkIds: new Set(), groupProjects: new Map(), usualLimits: {} },
      profileKeys: { flavorprofile: new Set(), availability_zone_profile: new Set() },
    },
  },
  replacements: new Map(),
  disabled: false,
  newTrial: () => ({ add: () => null }),
  ...fields,
})

const verdicts = (steps: readonly (Step | Outcome)[]) => Object.fromEntries(steps.map(({ id, result }) => [id, result]))
const ALL = ['lb', 'pool', 'member', 'listener', 'policy', 'rule']
const every = (result: string) => Object.fromEntries(ALL.map((id) => [id, result]))

/** The inventory after everything was created. */
function created(steps: readonly Step[]): Inventory {
  const bodies = steps.flatMap(({ request }) => (request === null ? [] : [request.body]))
  const attributes = (id: string) => {
    const rule = bodies.flatMap(({ rules }) => (rules ?? []) as readonly Attributes[]).find((each) => each['id'] === id)
    return { ...(bodies.find((body) => body['id'] === id) ?? rule) }
  }
  return inventory(
    [{ ...lb(), attributes: attributes('lb') }],
    CHILDREN.map((child) => ({ ...child, attributes: attributes(child.id) })),
  )
}

describe('a plan', () => {
  const source = inventory([lb({ provider: 'ovn', flavor_id: 'f' })], CHILDREN)

  test('creates all objects in places that have their addresses, a policy with its rules', () => {
    const { steps } = planOf(source, NOTHING, options())
    expect(verdicts(steps)).toEqual(every('create'))
    expect(steps[0]).toMatchObject({
      request: {
        path: '/loadbalancers',
        body: {
          id: 'lb',
          project_id: PROJECT,
          vip_address: '192.0.2.7',
          vip_subnet_id: 'public',
          admin_state_up: true,
        },
      },
      notes: [
        { field: 'provider', text: 'left out: Spout has no provider ovn' },
        { field: 'flavor_id', text: 'left out: Spout has no flavor f' },
      ],
    })
    expect(steps[2]).toMatchObject({
      request: { path: '/pools/pool/members', body: { id: 'member', subnet_id: 'members' } },
    })
    expect(steps[4]).toMatchObject({
      request: { body: { listener_id: 'listener', rules: [{ id: 'rule', value: '/' }] } },
    })
    expect(steps[5]?.request).toBeNull()
  })

  test('creates nothing that is there, and says what differs', () => {
    const there = created(planOf(source, NOTHING, options()).steps)
    expect(verdicts(planOf(source, there, options()).steps)).toEqual(every('equal'))
    const changed = inventory([lb({ provider: 'ovn', vip_address: '192.0.2.8' })], CHILDREN)
    const [first, ...others] = planOf(changed, there, options()).steps
    expect(first).toMatchObject({
      result: 'differs',
      notes: [{ field: 'vip_address', text: 'is "192.0.2.7" in Spout, not "192.0.2.8"' }],
      request: null,
    })
    expect(new Set(others.map(({ result }) => result))).toEqual(new Set(['equal']))
  })

  test('creates what is missing inside of what is there', () => {
    const whole = created(planOf(source, NOTHING, options()).steps)
    const there = { ...whole, byId: new Map([...whole.byId].filter(([id]) => id !== 'rule' && id !== 'member')) }
    const { steps } = planOf(source, there, options())
    expect(verdicts(steps)).toEqual({ ...every('equal'), rule: 'create', member: 'create' })
    expect(steps[5]).toMatchObject({ request: { path: '/l7policies/policy/rules', body: { id: 'rule' } } })
  })

  test('compares the order of policies, not their numbers', () => {
    const policies = (...positions: readonly (number | null)[]) =>
      positions.flatMap((position, at) =>
        position === null ? [] : [one('l7policy', `p${at}`, 'listener', { action: 'REJECT', position })],
      )
    const listener = CHILDREN[2]!
    const plan = (there: readonly Found[]) =>
      planOf(
        inventory([lb()], [CHILDREN[0]!, listener, ...policies(1, 2, 3)]),
        inventory([lb()], [CHILDREN[0]!, listener, ...there]),
        options(),
      ).steps.slice(3)
    expect(plan(policies(null, 1, 2)).map(({ result }) => result)).toEqual(['create', 'equal', 'equal'])
    expect(plan(policies(1, 3, 2)).map(({ result }) => result)).toEqual(['equal', 'differs', 'differs'])
  })

  test('refuses what needs a refused object, and nothing else', () => {
    const add = (kind: string) => (kind === 'pool' ? 'not offered' : null)
    const { steps } = planOf(source, NOTHING, options({ newTrial: () => ({ add }) }))
    expect(verdicts(steps)).toEqual({ ...every('refused'), lb: 'create' })
    expect(steps[1]?.notes).toEqual([{ field: 'refused', text: 'not offered' }])
    expect(steps[3]?.notes).toEqual([{ field: 'default_pool_id', text: 'pool pool (pool) is not taken over' }])
  })

  test.each<[string, Attributes, string]>([
    [
      'an unknown project',
      { project_id: 'x' },
      'project_id: Spout has no project x: create it (spout project create NAME --id x), or name another (--map x=PROJECT)',
    ],
    [
      'an address of no pool',
      { vip_address: '203.0.113.1' },
      'vip_address: 203.0.113.1 is in no address pool and in no subnet of the project in Spout',
    ],
  ])('refuses a load balancer of %s', (_, attributes, text) => {
    const [first] = planOf(inventory([lb(attributes)], []), NOTHING, options()).steps
    expect(first).toMatchObject({ result: 'refused' })
    expect(first?.notes.map((note) => `${note.field}: ${note.text}`)).toEqual([text])
  })

  test('asks which of two places an address is in, and takes what replaces the other one', () => {
    const { destination } = options()
    const second = { ...destination.places[0]!, id: 'second', name: 'second' }
    const two = { destination: { ...destination, places: [...destination.places, second] } }
    const [unclear] = planOf(source, NOTHING, options(two)).steps
    expect(unclear?.notes[0]?.text).toBe('192.0.2.7 is in public and second: name one (--map theirs=ID)')
    const replacements = new Map([['theirs', 'second']])
    const [first] = planOf(source, NOTHING, options({ ...two, replacements })).steps
    expect(first).toMatchObject({ request: { body: { vip_subnet_id: 'second' } } })
  })

  test('takes certificates that are in Spout already, by another name', () => {
    const ref = 'https://barbican/v1/containers/77'
    const tls = one('listener', 'tls', 'lb', {
      protocol: 'TERMINATED_HTTPS',
      default_tls_container_ref: ref,
      tls_ciphers: 'ECDHE-RSA-AES128-GCM-SHA256',
    })
    const withTls = inventory([lb()], [tls])
    const step = (replacements: ReadonlyMap<string, string>) =>
      planOf(withTls, NOTHING, options({ replacements })).steps[1]
    expect(step(new Map())).toMatchObject({ result: 'refused', notes: [{ field: 'default_tls_container_ref' }] })
    expect(step(new Map([[ref, 'cert']]))).toMatchObject({
      request: { body: { default_tls_container_ref: 'cert', tls_ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' } },
      notes: [],
    })
  })

  test('leaves load balancers disabled when asked to', () => {
    const [first] = planOf(source, NOTHING, options({ disabled: true })).steps
    expect(first).toMatchObject({ request: { body: { admin_state_up: false } } })
  })
})

describe('applying a plan', () => {
  const { steps } = planOf(inventory([lb()], CHILDREN), NOTHING, options())

  test('goes on after a refusal, without what needs the refused object', async () => {
    const asked: string[] = []
    const create = async (path: string) => {
      asked.push(path)
      if (path === '/listeners') throw new ApiRefusal(409, 'taken')
      return {}
    }
    const seen: string[] = []
    const outcomes = await apply(steps, {
      octavia: { create, update: create },
      neutron: { create },
      onOutcome: ({ id }) => seen.push(id),
    })
    expect(verdicts(outcomes)).toEqual({
      ...{ lb: 'created', pool: 'created', member: 'created', listener: 'refused', policy: 'refused', rule: 'refused' },
    })
    expect(asked).toEqual(['/loadbalancers', '/pools', '/pools/pool/members', '/listeners'])
    expect(seen).toEqual(ALL)
  })

  test('ends when the server is gone', async () => {
    const create = async () => {
      throw new TypeError('fetch failed')
    }
    await expect(
      apply(steps, { octavia: { create, update: create }, neutron: { create }, onOutcome: () => {} }),
    ).rejects.toThrow('fetch failed')
  })
})
