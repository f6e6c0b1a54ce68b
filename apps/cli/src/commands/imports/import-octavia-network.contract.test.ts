import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  bundled,
  callApi,
  Lab,
  PRODUCT_ENVIRONMENT,
  pageShell,
  run,
  type SystemAccess,
  startControlPlane,
  TypedPage,
} from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

// The test reads the Neutron API of a second Spout, over HTTP and after a login, since it has no Neutron of OpenStack.
const MAIN = bundled(path.join(import.meta.dirname, '../../main.ts'))
const MINUTES = 60_000
const SETTINGS = { set: ['api.settleMs=0'] }

type Printed = Readonly<Record<string, unknown>> & { readonly id: string }
type Rule = Readonly<Record<string, unknown>>

let labs: readonly Lab[] = []
let old: SystemAccess
let spout: SystemAccess
let clouds: string
const project = randomUUID()
/** Address pools of the other cloud, which are external networks there, and the pool that stands for the second here. */
let theirPublic: string
let theirFloating: string
let ourFloating: string
let network: string

const native = <T = Printed>(side: SystemAccess, where: string, body: object): Promise<T> =>
  callApi<T>(side.endpoint, side.admin.token, 'POST', where, body)

async function ask<T>(side: SystemAccess, where: string, method = 'GET', body?: object): Promise<T> {
  const response = await fetch(`${side.endpoint}${where}`, {
    method,
    headers: { 'x-auth-token': side.admin.token, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${where}: ${response.status} ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}
const shown = async (side: SystemAccess, where: string, root: string): Promise<Printed> =>
  (await ask<Record<string, Printed>>(side, where))[root]!
const make = async (side: SystemAccess, where: string, root: string, fields: object): Promise<Printed> =>
  (await ask<Record<string, Printed>>(side, where, 'POST', { [root]: fields }))[root]!

const [LB, NET] = ['/load-balancer/v2/lbaas', '/network/v2.0']

const environment = () => ({
  ...PRODUCT_ENVIRONMENT,
  ...{ SPOUT_ENDPOINT: spout.endpoint, SPOUT_TOKEN: spout.admin.token, NO_COLOR: '1' },
  OS_CLIENT_CONFIG_FILE: clouds,
})
const command = (...words: readonly string[]) =>
  run([process.execPath, MAIN, 'import', 'octavia', '--os-cloud', 'old', ...words], {
    env: environment(),
    timeoutMs: 5 * MINUTES,
  })

const addressPool = (name: string, prefix: string, first = 16, last = 100) => ({
  ...{ name, cidr: `${prefix}.0/24`, ranges: [{ first: `${prefix}.${first}`, last: `${prefix}.${last}` }] },
})

/** A security group of the other cloud with these rules. */
async function group(name: string, rules: readonly Rule[]): Promise<Printed> {
  const made = await make(old, `${NET}/security-groups`, 'security_group', {
    ...{ name, description: `of ${name}`, project_id: project },
  })
  for (const rule of rules)
    await make(old, `${NET}/security-group-rules`, 'security_group_rule', {
      ...{ security_group_id: made.id, direction: 'ingress', ...rule },
    })
  await ask(old, `${NET}/security-groups/${made.id}/tags`, 'PUT', { tags: ['shop'] })
  return shown(old, `${NET}/security-groups/${made.id}`, 'security_group')
}

const loadBalancer = (fields: object) =>
  make(old, `${LB}/loadbalancers`, 'loadbalancer', { project_id: project, ...fields })

beforeAll(async () => {
  labs = [await Lab.create(), await Lab.create()]
  old = await startControlPlane(labs[0]!, SETTINGS)
  spout = await startControlPlane(labs[1]!, SETTINGS)
  for (const side of [old, spout]) {
    await native(side, '/projects', { id: project, name: 'moved' })
    const made = await native(side, '/networks', { name: 'net', projectId: project })
    await native(side, `/networks/${made.id}/subnets`, { name: 'inner', cidr: '10.0.0.0/24' })
    const { id } = await native(side, '/address-pools', addressPool('public', '198.51.100'))
    const floating = await native(side, '/address-pools', addressPool('floating', '203.0.113'))
    if (side === old) {
      network = made.id
      theirPublic = id
      theirFloating = floating.id
    } else {
      ourFloating = floating.id
      // Two pools have the same prefix, so an administrator must choose one.
      await native(side, '/address-pools', addressPool('elsewhere', '203.0.113', 101, 200))
    }
  }
  clouds = path.join(labs[1]!.directory, 'clouds.yaml')
  mkdirSync(labs[1]!.directory, { recursive: true })
  const auth = {
    ...{ auth_url: `${old.endpoint}/identity/v3`, username: 'admin', password: old.admin.password },
    project_name: 'admin',
  }
  writeFileSync(clouds, JSON.stringify({ clouds: { old: { auth } } }))
}, 5 * MINUTES)

afterAll(async () => {
  for (const lab of labs) await lab.destroy()
})

test(
  'moving-from-octavia.md: what is typed plans the move, makes it, and hands a load balancer over',
  async () => {
    const [, lab] = labs as [Lab, Lab]
    const programs = { spout: [process.execPath, MAIN] }
    // The client of OpenStack keeps a cache in its home.
    const env = { ...environment(), HOME: lab.directory }
    const page = new TypedPage('moving-from-octavia.md', pageShell({ directory: lab.directory, lab, programs, env }))
    const { id } = await loadBalancer({ name: 'web', vip_subnet_id: theirPublic })
    const enabledAt = async (side: SystemAccess) =>
      (await shown(side, `${LB}/loadbalancers/${id}`, 'loadbalancer'))['admin_state_up']

    const plan = await page.type('spout import octavia')
    expect(plan.said).toContain(`load balancer web (${id}): would be created\n`)
    expect(plan.said).toMatch(/\n1 to be created \(nothing was written\)\n$/)
    const move = await page.type('spout import octavia')
    expect(move.said).toMatch(/\n1 created\n$/)
    expect([await enabledAt(old), await enabledAt(spout)]).toEqual([true, false])
    await page.type('openstack --os-cloud old loadbalancer set --disable')
    await page.type('spout lb set web --enabled yes')
    expect([await enabledAt(old), await enabledAt(spout)]).toEqual([false, true])
    expect(page.left).toEqual([])
  },
  5 * MINUTES,
)

test(
  'security groups with their rules come with the load balancers that name them',
  async () => {
    const web = await group('web', [
      {
        protocol: 'tcp',
        port_range_min: 80,
        port_range_max: 443,
        remote_ip_prefix: '192.0.2.0/24',
        description: 'office',
      },
      { protocol: 'udp', ethertype: 'IPv6' },
    ])
    const unused = await group('unused', [])
    const lb = await loadBalancer({ name: 'guarded', vip_subnet_id: theirPublic, vip_sg_ids: [web.id] })

    const plan = await command('guarded')
    expect(plan, plan.stdout).toMatchObject({ code: 0, stderr: '' })
    expect(plan.stdout).toContain(`security group web (${web.id}): would be created\n  security group rule `)
    expect(plan.stdout).not.toContain(unused.id)
    expect(plan.stdout).toMatch(/\n4 to be created \(nothing was written\)\n$/)
    expect(await ask(spout, `${NET}/security-groups`)).toEqual({ security_groups: [] })

    const { code, stdout, stderr } = await command('guarded', '--no-dry-run')
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/\n4 created\n$/)
    const lasting = ({ created_at: _, updated_at: __, security_group_rules: rules, ...others }: Rule): Rule => ({
      ...others,
      ...(rules !== undefined && { security_group_rules: (rules as readonly Rule[]).map(lasting) }),
    })
    const [before, after] = [web, await shown(spout, `${NET}/security-groups/${web.id}`, 'security_group')]
    expect(lasting(after)).toEqual(lasting(before))
    expect((after['security_group_rules'] as readonly Rule[]).length).toBe(2)
    expect(await shown(spout, `${LB}/loadbalancers/${lb.id}`, 'loadbalancer')).toMatchObject({ vip_sg_ids: [web.id] })
    expect(await command('guarded')).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n4 equal \(.*\n$/) })

    // One rule is only in Spout, and one is only in the other cloud. Both are reported, and nothing is changed.
    const [first] = after['security_group_rules'] as readonly Printed[]
    await ask(spout, `${NET}/security-group-rules/${first!.id}`, 'DELETE')
    const extra = await make(spout, `${NET}/security-group-rules`, 'security_group_rule', {
      ...{ security_group_id: web.id, direction: 'ingress', protocol: 'sctp' },
    })
    const differing = await command('guarded')
    expect(differing.stdout).toContain(`security_group_rules: has another one in Spout: ${extra.id}\n`)
    expect(differing.stdout).toContain(`security group rule ${first!.id}: would be created\n`)
    expect(differing.code).toBe(1)
  },
  5 * MINUTES,
)

test(
  'without its Neutron, a load balancer with security groups is not taken over, and a group may be named instead',
  async () => {
    const mine = await group('mine', [{ protocol: 'tcp' }])
    const lb = await loadBalancer({ name: 'lonely', vip_subnet_id: theirPublic, vip_sg_ids: [mine.id] })
    const nowhere = ['--network-endpoint', `${old.endpoint}/nowhere`]
    const refused = await command('lonely', ...nowhere)
    expect(refused.code).toBe(1)
    expect(refused.stdout).toContain('/security-groups: NOT READ: the server answered 404\n')
    expect(refused.stdout).toContain(
      `load balancer lonely (${lb.id}): NOT TAKEN OVER\n    vip_sg_ids: Spout has no security group ${mine.id}, and none of that id is taken over`,
    )
    const here = await make(spout, `${NET}/security-groups`, 'security_group', { name: 'here', project_id: project })
    const taken = await command('lonely', '--no-dry-run', '--map', `${mine.id}=${here.id}`)
    expect(taken, taken.stdout).toMatchObject({ code: 0, stderr: '' })
    expect(await shown(spout, `${LB}/loadbalancers/${lb.id}`, 'loadbalancer')).toMatchObject({ vip_sg_ids: [here.id] })
  },
  5 * MINUTES,
)

test(
  'a floating IP of the port comes with its load balancer, from the pool that an administrator names',
  async () => {
    const lb = await loadBalancer({ name: 'inner', vip_network_id: network })
    const floating = await make(old, `${NET}/floatingips`, 'floatingip', {
      ...{
        project_id: project,
        floating_network_id: theirFloating,
        port_id: lb['vip_port_id'],
        description: 'the shop',
      },
    })
    await ask(old, `${NET}/floatingips/${floating.id}/tags`, 'PUT', { tags: ['a', 'b'] })
    // One that is bound to no load balancer stays where it is.
    const other = await make(old, `${NET}/floatingips`, 'floatingip', {
      ...{ project_id: project, floating_network_id: theirFloating },
    })
    const address = String(floating['floating_ip_address'])

    const unclear = await command('inner')
    expect(unclear.code).toBe(1)
    expect(unclear.stdout).toContain(
      `  floating IP ${address} (${floating.id}): NOT TAKEN OVER\n      floating_ip_address: ${address} is in `,
    )
    expect(unclear.stdout).toContain(`: name one (--map ${theirFloating}=ID)\n`)
    expect(unclear.stdout).not.toContain(other.id)

    const map = ['--map', `${theirFloating}=${ourFloating}`]
    const { code, stdout, stderr } = await command('inner', '--no-dry-run', ...map)
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/\n2 created\n$/)
    const ours = await shown(spout, `${LB}/loadbalancers/${lb.id}`, 'loadbalancer')
    expect(await shown(spout, `${NET}/floatingips/${floating.id}`, 'floatingip')).toMatchObject({
      ...{ floating_ip_address: address, floating_network_id: ourFloating, port_id: ours['vip_port_id'] },
      ...{ description: 'the shop', tags: ['a', 'b'], project_id: project, status: 'ACTIVE' },
    })
    expect(await command('inner', '--no-dry-run', ...map)).toMatchObject({
      ...{ code: 0, stderr: '', stdout: expect.stringMatching(/\n2 equal\n$/) },
    })

    // The floating IP exists in Spout and is bound to nothing: that is reported, and stays so.
    await ask(spout, `${NET}/floatingips/${floating.id}`, 'PUT', { floatingip: { port_id: null } })
    const loose = await command('inner', '--no-dry-run', ...map)
    expect(loose.stdout).toContain(`port_id: is null in Spout, not ${JSON.stringify(ours['vip_port_id'])}\n`)
    expect(loose.code).toBe(1)
  },
  5 * MINUTES,
)
