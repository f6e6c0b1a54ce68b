import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { bundled, callApi, Lab, PRODUCT_ENVIRONMENT, run, type SystemAccess, startControlPlane } from '@spout/testkit'
import { type OctaviaServer, startOctaviaServer } from '@spout/testkit/octavia-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

// The command as people run it, from Debian's octavia-api into a control plane as it is started.
const MAIN = bundled(path.join(import.meta.dirname, '../../main.ts'))
const MINUTES = 60_000

let lab: Lab
let spout: SystemAccess
let octavia: OctaviaServer
let clouds: string
/** The same project id, as Keystone prints it and as Spout does. */
const theirProject = randomUUID().replaceAll('-', '')
const project = theirProject.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
const theirSubnet = randomUUID()

type Printed = Readonly<Record<string, unknown>> & { readonly id: string }

async function ask<T>(url: string, headers: object, method = 'GET', body?: object): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

const theirs = <T>(where: string, method?: string, body?: object): Promise<T> =>
  ask(`${octavia.endpoint}/v2/lbaas${where}`, octavia.as(theirProject), method, body)
const ours = <T>(where: string, method?: string, body?: object): Promise<T> =>
  ask(`${spout.endpoint}/load-balancer/v2/lbaas${where}`, { 'x-auth-token': spout.admin.token }, method, body)

/** Creates an object in octavia-api, which is busy until its provider is done. */
async function made(plural: string, root: string, fields: object): Promise<Printed> {
  const { [root]: created } = await theirs<Record<string, Printed>>(plural, 'POST', { [root]: fields })
  await octavia.confirm()
  return created!
}

const loadBalancer = (fields: object) =>
  made('/loadbalancers', 'loadbalancer', { project_id: theirProject, vip_subnet_id: theirSubnet, ...fields })

function command(...words: readonly string[]) {
  return run([process.execPath, MAIN, 'import', 'octavia', '--os-cloud', 'old', ...words], {
    env: {
      ...PRODUCT_ENVIRONMENT,
      ...{ SPOUT_ENDPOINT: spout.endpoint, SPOUT_TOKEN: spout.admin.token, NO_COLOR: '1' },
      OS_CLIENT_CONFIG_FILE: clouds,
    },
    timeoutMs: 5 * MINUTES,
  })
}

/** A web server with every option of HTTP, and a UDP service. */
async function fill(): Promise<void> {
  const pool = (name: string, address: string) => ({
    ...{ name, protocol: 'HTTP', lb_algorithm: 'LEAST_CONNECTIONS', tags: ['green'] },
    session_persistence: { type: 'APP_COOKIE', cookie_name: 'basket' },
    members: [
      { name: 'one', address, protocol_port: 8080, weight: 0, tags: ['rack-1'] },
      { address, protocol_port: 8081, backup: true, admin_state_up: false, monitor_port: 9000 },
    ],
    healthmonitor: {
      ...{ name: 'ready', type: 'HTTP', delay: 7, timeout: 4, max_retries: 2, max_retries_down: 4 },
      ...{
        url_path: '/ready',
        expected_codes: '200-204',
        http_method: 'HEAD',
        http_version: 1.1,
        domain_name: 'a.example',
      },
    },
  })
  const rules = [
    { type: 'HOST_NAME', compare_type: 'EQUAL_TO', value: 'shop.example.com' },
    { type: 'PATH', compare_type: 'STARTS_WITH', value: '/old', invert: true, tags: ['moved'] },
  ]
  await loadBalancer({
    ...{ name: 'web', description: 'the shop', vip_address: '198.51.100.20', tags: ['blue', 'shop'] },
    listeners: [
      {
        ...{ name: 'http', protocol: 'HTTP', protocol_port: 80, connection_limit: 500, description: 'plain' },
        ...{ insert_headers: { 'X-Forwarded-For': 'true' }, timeout_client_data: 70_000 },
        allowed_cidrs: ['203.0.113.0/24'],
        default_pool: pool('front', '10.0.0.11'),
        l7policies: [
          {
            name: 'away',
            action: 'REDIRECT_TO_URL',
            redirect_url: 'https://new.example.com/',
            redirect_http_code: 308,
            rules,
          },
          { name: 'api', action: 'REDIRECT_TO_POOL', redirect_pool: pool('api', '10.0.0.12'), rules: [rules[1]] },
        ],
      },
    ],
  })
  await loadBalancer({
    ...{ name: 'dns', vip_address: '198.51.100.21', admin_state_up: false },
    listeners: [
      {
        ...{ name: 'udp', protocol: 'UDP', protocol_port: 53, admin_state_up: false },
        default_pool: {
          name: 'resolvers',
          protocol: 'UDP',
          lb_algorithm: 'SOURCE_IP',
          members: [{ address: '10.0.0.13', protocol_port: 53 }],
        },
      },
    ],
  })
}

/** The objects of a side below load balancers of these names, by their path. */
async function objects(side: typeof ours, names: readonly string[]): Promise<ReadonlyMap<string, Printed>> {
  const found = new Map<string, Printed>()
  const list = async (where: string) => {
    const { [where.slice(where.lastIndexOf('/') + 1)]: items } = await side<Record<string, readonly Printed[]>>(where)
    for (const item of items!) found.set(`${where}/${item.id}`, item)
    return items!
  }
  for (const plural of ['/loadbalancers', '/listeners', '/healthmonitors']) await list(plural)
  for (const { id } of await list('/pools')) await list(`/pools/${id}/members`)
  for (const { id } of await list('/l7policies')) await list(`/l7policies/${id}/rules`)
  const wanted = new Set([...found.values()].filter(({ name }) => names.includes(String(name))).map(({ id }) => id))
  const inside = ({ id, loadbalancers, pools, listener_id: listener }: Printed): boolean =>
    wanted.has(id) ||
    [loadbalancers, pools].flat().some((one) => wanted.has((one as Printed | undefined)?.id ?? '')) ||
    wanted.has(String(listener))
  // Parents before children.
  for (const each of [1, 2, 3])
    for (const [where, item] of found)
      if (inside(item) || (each > 0 && wanted.has(where.split('/').at(-3) ?? ''))) wanted.add(item.id)
  return new Map([...found].filter(([, { id }]) => wanted.has(id)))
}

/**
 * Attributes that an import does not keep: times, states, ids of the network, and the provider of the test's
 * octavia-api.
 */
const OWN = [
  ...['created_at', 'updated_at', 'provisioning_status', 'operating_status', 'project_id', 'tenant_id', 'provider'],
  ...[
    'vip_port_id',
    'vip_subnet_id',
    'vip_network_id',
    'vip_qos_policy_id',
    'l7policies',
    'listeners',
    'pools',
    'members',
  ],
]

/** An attribute without a value is null, an empty list or an empty text, as it comes. */
const comparable = (item: Printed) =>
  Object.fromEntries(
    Object.entries(item)
      .filter(
        ([name, value]) => !OWN.includes(name) && JSON.stringify(value) !== '[]' && value !== null && value !== '',
      )
      .map(([name, value]) => [name, name === 'tags' ? (value as readonly string[]).toSorted() : value]),
  )

beforeAll(async () => {
  lab = await Lab.create()
  spout = await startControlPlane(lab, { set: ['api.settleMs=0'] })
  octavia = await startOctaviaServer(lab, { processes: 1, isDurable: false })
  const asAdmin = <T>(where: string, body: object): Promise<T> =>
    callApi<T>(spout.endpoint, spout.admin.token, 'POST', where, body)
  await asAdmin('/projects', { id: project, name: 'moved' })
  await asAdmin('/address-pools', {
    ...{ name: 'public', cidr: '198.51.100.0/24', ranges: [{ first: '198.51.100.16', last: '198.51.100.250' }] },
  })
  const network = await asAdmin<Printed>('/networks', { name: 'net', projectId: project })
  await asAdmin(`/networks/${network.id}/subnets`, { name: 'members', cidr: '10.0.0.0/24' })
  clouds = path.join(lab.directory, 'clouds.yaml')
  mkdirSync(lab.directory, { recursive: true })
  writeFileSync(
    clouds,
    JSON.stringify({ clouds: { old: { auth_type: 'none', auth: { endpoint: octavia.endpoint } } } }),
  )
  await fill()
}, 10 * MINUTES)

afterAll(() => lab?.destroy())

describe('what is in octavia-api', () => {
  test(
    'is planned object by object, and a plan writes nothing',
    async () => {
      const { code, stdout, stderr } = await command('web', 'dns')
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toMatch(
        /^load balancer web \([0-9a-f-]{36}\): would be created\n {4}provider: left out: Spout has no provider noop_driver\n {2}pool /m,
      )
      expect(stdout).toContain('    member 10.0.0.11 port 8081')
      expect(stdout).toMatch(/\n19 to be created \(nothing was written\)\n$/)
      expect(await ours('/loadbalancers')).toMatchObject({ loadbalancers: [] })
    },
    5 * MINUTES,
  )

  test(
    'is created with the same ids and the same answers, and a second time changes nothing',
    async () => {
      const { code, stdout, stderr } = await command('web', 'dns', '--no-dry-run')
      expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
      expect(stdout).toMatch(/\n19 created\n$/)
      const [before, after] = [await objects(theirs, ['web', 'dns']), await objects(ours, ['web', 'dns'])]
      expect([...after.keys()].sort()).toEqual([...before.keys()].sort())
      expect(before.size).toBe(19)
      for (const [where, item] of before) {
        const [wanted, is] = [comparable(item), comparable(after.get(where)!)]
        // This octavia-api is too old to print these.
        expect(Object.fromEntries(Object.keys(wanted).map((name) => [name, is[name]])), where).toEqual(wanted)
      }
      const again = await command('web', 'dns', '--no-dry-run')
      expect(again).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/\n19 equal\n$/) })
      expect(await objects(ours, ['web', 'dns'])).toEqual(after)
    },
    5 * MINUTES,
  )

  test(
    'is completed after an interruption, and what somebody changed here stays',
    async () => {
      const all = await objects(ours, ['web', 'dns'])
      const pathOf = (name: string) => [...all].find(([, item]) => item['name'] === name)![0]
      await ours(pathOf('one'), 'DELETE')
      await ours(pathOf('away'), 'DELETE')
      await ours(pathOf('udp'), 'PUT', { listener: { name: 'renamed' } })
      const { code, stdout, stderr } = await command('--no-dry-run')
      // The policy comes with both of its rules.
      expect(stdout).toMatch(/\n4 created, 14 equal, 1 different\n$/)
      expect(stdout).toContain('name: is "renamed" in Spout, not "udp"')
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: 'spout: 1 of 19 objects are not as in the other Octavia, see above\n',
      })
      const position = (policies: readonly Printed[]) => policies.map(({ name, position }) => [name, position])
      const { l7policies } = await ours<{ l7policies: readonly Printed[] }>('/l7policies?sort=position')
      expect(position(l7policies)).toEqual([
        ['away', 1],
        ['api', 2],
      ])
      await ours(pathOf('udp'), 'PUT', { listener: { name: 'udp' } })
    },
    5 * MINUTES,
  )
})

test(
  'an object that cannot be taken over is said by its attribute, and blocks only what needs it',
  async () => {
    await loadBalancer({ name: 'elsewhere', vip_address: '192.0.2.9' })
    const lb = await loadBalancer({ name: 'mixed', vip_address: '198.51.100.22' })
    const pool = await made('/pools', 'pool', {
      ...{ loadbalancer_id: lb.id, name: 'app', protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' },
    })
    await made(`/pools/${pool.id}/members`, 'member', {
      name: 'loopback',
      address: '127.0.0.1',
      protocol_port: 80,
    })
    await made('/listeners', 'listener', {
      ...{ loadbalancer_id: lb.id, name: 'plain', protocol: 'TCP', protocol_port: 443 },
    })
    const { code, stdout } = await command('elsewhere', 'mixed', '--no-dry-run', '--disabled')
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /load balancer elsewhere \(.*\): NOT TAKEN OVER\n {4}vip_address: 192\.0\.2\.9 is in no address pool and in no subnet of the project in Spout\n/,
    )
    expect(stdout).toMatch(/member loopback \(.*\): NOT TAKEN OVER\n +refused: .*127\.0\.0\.1/)
    expect(stdout).toMatch(/\n3 created, 2 not taken over\n$/)
    expect(await ours(`/loadbalancers/${lb.id}`)).toMatchObject({
      loadbalancer: { name: 'mixed', admin_state_up: false },
    })
  },
  5 * MINUTES,
)

describe('flavors, availability zones and quotas', () => {
  const profile = async (path: string, root: string, data: string, text: object): Promise<Printed> => {
    const { [root]: made } = await theirs<Record<string, Printed>>(path, 'POST', {
      [root]: { name: `${root} of old`, provider_name: 'noop_driver', [data]: JSON.stringify(text) },
    })
    return made!
  }
  const counted = { loadbalancer: 7, listener: -1, pool: 5, member: 50, healthmonitor: 5 }
  let flavor: Printed
  let flavorProfile: Printed
  let zoneProfile: Printed
  let lb: Printed

  beforeAll(async () => {
    flavorProfile = await profile('/flavorprofiles', 'flavorprofile', 'flavor_data', {
      ...{ loadbalancer_topology: 'SINGLE', compute_flavor: 'm1.lb' },
    })
    const made = await theirs<{ flavor: Printed }>('/flavors', 'POST', {
      flavor: { name: 'gold', description: 'fast', enabled: true, flavor_profile_id: flavorProfile.id },
    })
    flavor = made.flavor
    zoneProfile = await profile(
      ...(['/availabilityzoneprofiles', 'availability_zone_profile', 'availability_zone_data'] as const),
      { compute_zone: 'nova-1' },
    )
    await theirs('/availabilityzones', 'POST', {
      availability_zone: { name: 'hall-1', enabled: true, availability_zone_profile_id: zoneProfile.id },
    })
    await theirs(`/quotas/${theirProject}`, 'PUT', { quota: { ...counted, l7policy: 30, l7rule: 40 } })
    lb = await loadBalancer({
      ...{ name: 'golden', vip_address: '198.51.100.30', flavor_id: flavor.id, availability_zone: 'hall-1' },
    })
  }, 5 * MINUTES)

  test(
    'are told in the plan with all that has no meaning here',
    async () => {
      const { code, stdout, stderr } = await command('golden')
      expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
      for (const line of [
        `flavor profile flavorprofile of old (${flavorProfile.id}): would be created`,
        '    provider_name: is amphora: Spout has no provider noop_driver',
        '    flavor_data.compute_flavor: left out ("m1.lb"): a load balancer is not a machine in Spout',
        `flavor gold (${flavor.id}): would be created`,
        `availability zone profile availability_zone_profile of old (${zoneProfile.id}): would be created`,
        '    availability_zone_data.compute_zone: left out ("nova-1"): Spout has no node group nova-1: create it, or name another (--map nova-1=GROUP)',
        'availability zone hall-1: would be created',
        `quota of project ${project}: would be created`,
      ])
        expect(stdout.split('\n')).toContain(line)
      expect(stdout).toMatch(/\n6 to be created \(nothing was written\)\n$/)
      expect(await ours('/flavors')).toMatchObject({ flavors: [] })
    },
    5 * MINUTES,
  )

  test(
    'are created with the same ids and names, the load balancer is of them, and a second time nothing changes',
    async () => {
      const groups = await callApi<{ items: readonly Printed[] }>(
        ...([spout.endpoint, spout.admin.token, 'GET', '/node-groups'] as const),
      )
      const map = ['--map', `nova-1=${String(groups.items[0]!['name'])}`]
      const { code, stdout, stderr } = await command('golden', '--no-dry-run', ...map)
      expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
      expect(stdout).toMatch(/\n6 created\n$/)
      expect(await ours(`/flavorprofiles/${flavorProfile.id}`)).toMatchObject({
        flavorprofile: { name: 'flavorprofile of old', flavor_data: '{"loadbalancer_topology":"SINGLE"}' },
      })
      expect(await ours(`/flavors/${flavor.id}`)).toMatchObject({
        flavor: { name: 'gold', description: 'fast', enabled: true, flavor_profile_id: flavorProfile.id },
      })
      expect(await ours('/availabilityzones/hall-1')).toMatchObject({
        availability_zone: { enabled: true, availability_zone_profile_id: zoneProfile.id },
      })
      expect(await ours(`/availabilityzoneprofiles/${zoneProfile.id}`)).toMatchObject({
        availability_zone_profile: {
          availability_zone_data: JSON.stringify({ compute_zone: groups.items[0]!['name'] }),
        },
      })
      expect(await ours(`/quotas/${project}`)).toMatchObject({
        quota: { ...counted, listener: 1_000_000, l7policy: 30, l7rule: 40 },
      })
      expect(await ours(`/loadbalancers/${lb.id}`)).toMatchObject({
        loadbalancer: { flavor_id: flavor.id, availability_zone: 'hall-1' },
      })
      const again = await command('golden', '--no-dry-run', ...map)
      expect(again).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/\n6 equal\n$/) })
    },
    5 * MINUTES,
  )

  test(
    'that are changed here stay, and what is of a name that is taken is not taken over',
    async () => {
      await ours(`/quotas/${project}`, 'PUT', { quota: { loadbalancer: 70 } })
      const other = await theirs<{ flavor: Printed }>('/flavors', 'POST', {
        flavor: { name: 'silver', enabled: true, flavor_profile_id: flavorProfile.id },
      })
      const mine = await ours<{ flavor: Printed }>('/flavors', 'POST', {
        flavor: { name: 'silver', enabled: true, flavor_profile_id: flavorProfile.id },
      })
      const { code, stdout } = await command('--no-dry-run')
      expect(code).toBe(1)
      expect(stdout).toContain('    loadbalancer: is 70 in Spout, not 7\n')
      expect(stdout).toContain(
        `flavor silver (${other.flavor.id}): NOT TAKEN OVER\n    name: Spout has another flavor silver: rename it, or take it (--map ${other.flavor.id}=${mine.flavor.id})\n`,
      )
      expect(await ours(`/quotas/${project}`)).toMatchObject({ quota: { loadbalancer: 70 } })
    },
    5 * MINUTES,
  )
})

test(
  'a cloud that is unknown, and a load balancer that is, are said',
  async () => {
    const unknown = await command('nosuch')
    expect(unknown).toMatchObject({ code: 2, stderr: 'spout: the other Octavia shows no load balancer nosuch\n' })
    const elsewhere = await run([process.execPath, MAIN, 'import', 'octavia', '--os-cloud', 'new'], {
      env: {
        ...PRODUCT_ENVIRONMENT,
        SPOUT_ENDPOINT: spout.endpoint,
        SPOUT_TOKEN: spout.admin.token,
        OS_CLIENT_CONFIG_FILE: clouds,
      },
    })
    expect(elsewhere).toMatchObject({ code: 2, stderr: 'spout: no clouds.yaml has cloud new\n' })
  },
  5 * MINUTES,
)
