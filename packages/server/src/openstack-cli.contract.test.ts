import { OpenStackProgram, type RunResult, run as runCommand } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADMIN_PASSWORD, openTestBed, type TestBed } from './testing/test-bed.ts'

const MANY_CALLS_MS = 400_000

/** Unmodified clients against the facades: Debian's `openstack` over a real socket. */

const INSTALLED = '/usr/bin/openstack'

type Environment = Readonly<Record<string, string>>

let bed: TestBed
let authUrl: string
let program: OpenStackProgram

beforeAll(async () => {
  bed = await openTestBed()
  program = new OpenStackProgram()
  authUrl = `${await bed.app.listen({ host: '127.0.0.1', port: 0 })}/identity`
})
afterAll(async () => {
  await bed.close()
  await program[Symbol.asyncDispose]()
})

const as = (userName: string, password: string, projectName: string): Environment => ({
  OS_AUTH_URL: authUrl,
  OS_USERNAME: userName,
  OS_PASSWORD: password,
  OS_PROJECT_NAME: projectName,
  OS_USER_DOMAIN_NAME: 'Default',
  OS_PROJECT_DOMAIN_NAME: 'Default',
  OS_IDENTITY_API_VERSION: '3',
})
const admin = () => as('admin', ADMIN_PASSWORD, 'admin')

const run = (env: Environment, args: readonly string[]): Promise<RunResult> => program.run(args, { env })

const openstack = async (environment: Environment, ...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await run(environment, args)
  if (code !== 0) throw new Error(`openstack ${args.join(' ')}: ${stderr}`)
  return stdout
}

type Shown = Readonly<Record<string, unknown>>
const show = async (environment: Environment, ...args: string[]): Promise<Shown> =>
  JSON.parse(await openstack(environment, ...args, '-f', 'json'))
const list = async (environment: Environment, ...args: string[]): Promise<readonly Shown[]> =>
  JSON.parse(await openstack(environment, ...args, '-f', 'json'))

describe('identity', () => {
  test('a token with its project, revoked again', async () => {
    const token = await show(admin(), 'token', 'issue')
    expect(token).toMatchObject({ project_id: bed.admin.projectId, user_id: bed.admin.userId })
    expect(token.expires).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/)
    expect(token.id).toMatch(/^[\w-]{43}$/)
    const bearer = { OS_AUTH_TYPE: 'v3token', OS_AUTH_URL: authUrl, OS_PROJECT_ID: bed.admin.projectId }
    expect(await show({ ...bearer, OS_TOKEN: String(token.id) }, 'token', 'issue')).toMatchObject({
      user_id: bed.admin.userId,
    })
    await openstack(admin(), 'token', 'revoke', String(token.id))
    const refused = await run({ ...bearer, OS_TOKEN: String(token.id) }, ['token', 'issue'])
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.stderr).toContain('HTTP 401')
  })

  test('a wrong password is refused with a message', async () => {
    const { code, stderr } = await run(as('admin', 'wrong', 'admin'), ['token', 'issue'])
    expect(code).toBe(1)
    expect(stderr).toContain('(HTTP 401)')
  })

  test('the catalog', async () => {
    const services = await list(admin(), 'catalog', 'list')
    expect(services.map((service) => service.Type).sort()).toEqual([
      'compute',
      'identity',
      'key-manager',
      'load-balancer',
      'network',
    ])
    // The other tests send commands to one process that has the program loaded. Here the installed program itself runs.
    const env = { PATH: '/usr/bin:/bin', ...admin() }
    const installed = await runCommand([INSTALLED, 'catalog', 'list', '-f', 'json'], { env })
    expect(JSON.parse(installed.stdout)).toEqual(services)
  })

  test(
    'projects, users, roles: created, granted, used, taken away',
    async () => {
      const project = await show(admin(), 'project', 'create', 'team', '--description', 'A team')
      expect(project).toMatchObject({ name: 'team', description: 'A team', enabled: true, domain_id: 'default' })
      await openstack(admin(), 'user', 'create', 'ann', '--password', 'ann-password')
      await openstack(admin(), 'role', 'add', '--project', 'team', '--user', 'ann', 'member')
      expect(await list(admin(), 'role', 'assignment', 'list', '--names', '--user', 'ann')).toMatchObject([
        { Role: 'member', User: 'ann@Default', Project: 'team@Default' },
      ])
      const ann = as('ann', 'ann-password', 'team')
      expect(await show(ann, 'token', 'issue')).toMatchObject({ project_id: project.id })
      expect((await list(ann, 'project', 'list')).map((row) => row.Name)).toEqual(['team'])
      expect((await list(admin(), 'project', 'list')).map((row) => row.Name).sort()).toEqual(['admin', 'team'])
      expect((await list(admin(), 'user', 'list')).map((row) => row.Name).sort()).toEqual(['admin', 'ann'])
      expect((await list(admin(), 'role', 'list')).map((row) => row.Name)).toContain('load-balancer_member')
      expect((await run(ann, ['project', 'create', 'mine'])).stderr).toContain('(HTTP 403)')

      await openstack(admin(), 'role', 'create', 'auditor')
      await openstack(admin(), 'role', 'add', '--project', 'team', '--user', 'ann', 'auditor')
      await openstack(admin(), 'role', 'add', '--domain', 'default', '--user', 'ann', 'load-balancer_admin')
      const assigned = await list(admin(), 'role', 'assignment', 'list', '--names', '--user', 'ann')
      expect(assigned.map((row) => [row.Role, row.Project, row.Domain]).sort()).toEqual([
        ['auditor', 'team@Default', ''],
        ['load-balancer_admin', '', 'Default'],
        ['member', 'team@Default', ''],
      ])
      await openstack(admin(), 'role', 'set', '--name', 'inspector', 'auditor')
      await openstack(admin(), 'project', 'set', '--name', 'crew', 'team')
      await openstack(admin(), 'user', 'set', '--name', 'anna', 'ann')
      expect((await run(admin(), ['project', 'set', '--name', 'admin', 'crew'])).stderr).toContain('(HTTP 409)')
      expect((await run(ann, ['token', 'issue'])).stderr).toContain('(HTTP 401)')
      const anna = as('anna', 'ann-password', 'crew')
      expect(await show(anna, 'token', 'issue')).toMatchObject({ project_id: project.id })
      await openstack(admin(), 'user', 'set', '--name', 'ann', 'anna')
      await openstack(admin(), 'project', 'set', '--name', 'team', 'crew')
      await openstack(admin(), 'role', 'delete', 'inspector')
      expect((await run(admin(), ['role', 'delete', 'member'])).stderr).toContain('(HTTP 403)')

      await openstack(admin(), 'role', 'remove', '--project', 'team', '--user', 'ann', 'member')
      expect((await run(ann, ['token', 'issue'])).stderr).toContain('(HTTP 401)')
      await openstack(admin(), 'user', 'set', 'ann', '--password', 'new-password')
      await openstack(admin(), 'role', 'add', '--project', 'team', '--user', 'ann', 'reader')
      await openstack(as('ann', 'new-password', 'team'), 'token', 'issue')
      await openstack(admin(), 'user', 'delete', 'ann')
      await openstack(admin(), 'project', 'delete', 'team')
      expect((await run(admin(), ['project', 'show', 'team'])).code).toBe(1)
    },
    MANY_CALLS_MS,
  )

  test('application credentials: created, used, shown without the secret, deleted', async () => {
    const made = await show(admin(), 'application', 'credential', 'create', 'robot', '--role', 'reader')
    expect(made).toMatchObject({ name: 'robot', roles: 'reader', unrestricted: false })
    const robot = {
      OS_AUTH_URL: authUrl,
      OS_AUTH_TYPE: 'v3applicationcredential',
      OS_APPLICATION_CREDENTIAL_ID: String(made.id),
      OS_APPLICATION_CREDENTIAL_SECRET: String(made.secret),
    }
    expect(await show(robot, 'token', 'issue')).toMatchObject({ user_id: bed.admin.userId })
    expect((await run(robot, ['project', 'create', 'x'])).stderr).toContain('(HTTP 403)')
    expect((await run(robot, ['application', 'credential', 'create', 'y'])).stderr).toContain('(HTTP 403)')
    expect(JSON.stringify(await show(admin(), 'application', 'credential', 'show', 'robot'))).not.toContain(made.secret)
    await openstack(admin(), 'application', 'credential', 'delete', 'robot')
    expect((await run(robot, ['token', 'issue'])).stderr).toContain('(HTTP 401)')
  })
})

describe('network', () => {
  test('networks and subnets of a project, public pools beside them', async () => {
    const pool = await bed.admission.createAddressPool({
      name: 'public',
      description: '',
      ranges: [{ first: '198.51.100.10', last: '198.51.100.20' }],
      cidr: '198.51.100.0/24',
      gatewayIp: '198.51.100.1',
      projectIds: null,
      quarantineSeconds: 0,
    })
    const network = await show(admin(), 'network', 'create', 'inside')
    expect(network).toMatchObject({ name: 'inside', status: 'ACTIVE', 'router:external': false, subnets: [] })
    const subnet = await show(
      admin(),
      'subnet',
      'create',
      'inside-v4',
      '--network',
      'inside',
      '--subnet-range',
      '10.7.0.0/24',
    )
    expect(subnet).toMatchObject({
      cidr: '10.7.0.0/24',
      gateway_ip: '10.7.0.1',
      ip_version: 4,
      network_id: network.id,
    })
    expect((await list(admin(), 'network', 'list')).map((row) => row.Name).sort()).toEqual(['inside', 'public'])
    expect((await list(admin(), 'network', 'list', '--external')).map((row) => row.ID)).toEqual([pool.id])
    expect((await list(admin(), 'subnet', 'list', '--network', 'public')).map((row) => row.Subnet)).toEqual([
      '198.51.100.0/24',
    ])
    const refused = await run(admin(), [
      'subnet',
      'create',
      'x',
      '--network',
      'inside',
      '--subnet-range',
      '10.7.0.0/25',
    ])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/BadRequest|ConflictException/)
  })

  test('ports: reserved, found by address, released', async () => {
    const args = ['--network', 'inside', '--fixed-ip', 'subnet=inside-v4,ip-address=10.7.0.9'] as const
    const port = await show(admin(), 'port', 'create', 'mine', ...args)
    expect(port).toMatchObject({ name: 'mine', status: 'DOWN' })
    expect(JSON.stringify(port.fixed_ips)).toContain('10.7.0.9')
    expect(await show(admin(), 'port', 'show', 'mine')).toMatchObject({ id: port.id })
    expect(await list(admin(), 'port', 'list', '--fixed-ip', 'ip-address=10.7.0.9')).toHaveLength(1)
    expect((await run(admin(), ['port', 'create', 'other', ...args])).stderr).toContain('already in use')
    await openstack(admin(), 'port', 'delete', 'mine')
    // The port that remains is the subnet's gateway, which belongs to no project.
    expect(await list(admin(), 'port', 'list', '--project', 'admin')).toEqual([])
  })

  test('a floating IP joins the load balancer of a VIP port and leaves it, and so do security groups', async () => {
    const project = bed.admin.projectId
    const network = bed.view.list('network').find((known) => known.name === 'inside')
    const subnet = network?.subnets[0]
    if (network === undefined || subnet === undefined) throw new Error('the network is not there')
    const loadBalancer = await bed.admission.createLoadBalancer({
      projectId: project,
      name: 'web',
      description: '',
      tags: [],
      enabled: true,
      vips: [{ from: 'subnet', networkId: network.id, subnetId: subnet.id, address: null }],
      listeners: [],
      pools: [],
      nodeGroupId: null,
      annotations: {},
    })
    const vip = loadBalancer.vips[0]
    if (vip === undefined) throw new Error('no VIP')
    expect(await show(admin(), 'port', 'show', vip.addressId)).toMatchObject({
      device_id: `lb-${loadBalancer.id}`,
      device_owner: 'Octavia',
    })
    const floating = await show(admin(), 'floating', 'ip', 'create', 'public')
    expect(floating).toMatchObject({ status: 'DOWN', port_id: null })
    await openstack(admin(), 'floating', 'ip', 'set', '--port', vip.addressId, String(floating.id))
    expect(bed.view.get('loadBalancer', loadBalancer.id)?.value.vips.map((known) => known.address)).toEqual([
      vip.address,
      floating.floating_ip_address,
    ])
    expect(await list(admin(), 'floating', 'ip', 'list', '--port', vip.addressId)).toMatchObject([
      { 'Floating IP Address': floating.floating_ip_address, 'Fixed IP Address': vip.address },
    ])
    await openstack(admin(), 'floating', 'ip', 'unset', '--port', String(floating.id))
    expect(bed.view.get('loadBalancer', loadBalancer.id)?.value.vips).toHaveLength(1)
    await openstack(admin(), 'floating', 'ip', 'delete', String(floating.id))
    expect(await list(admin(), 'floating', 'ip', 'list')).toEqual([])

    const group = await show(admin(), 'security', 'group', 'create', 'shop-clients')
    const words = ['--ingress', '--protocol', 'tcp', '--dst-port', '443', '--remote-ip', '198.51.100.0/24']
    const rule = await show(admin(), 'security', 'group', 'rule', 'create', ...words, 'shop-clients')
    expect(rule).toMatchObject({ protocol: 'tcp', port_range_min: 443, remote_ip_prefix: '198.51.100.0/24' })
    await openstack(admin(), 'port', 'set', '--security-group', 'shop-clients', vip.addressId)
    expect(bed.view.get('loadBalancer', loadBalancer.id)?.value.securityGroupIds).toEqual([group.id])
    expect((await run(admin(), ['security', 'group', 'delete', 'shop-clients'])).code).not.toBe(0)
    expect(await list(admin(), 'security', 'group', 'rule', 'list', 'shop-clients')).toMatchObject([{ ID: rule.id }])
    await openstack(admin(), 'port', 'set', '--no-security-group', vip.addressId)
    await openstack(admin(), 'security', 'group', 'rule', 'delete', String(rule.id))
    await openstack(admin(), 'security', 'group', 'delete', 'shop-clients')
    expect(await list(admin(), 'security', 'group', 'list')).toEqual([])
    await bed.admission.deleteLoadBalancer(loadBalancer.id, { cascade: true })
  })

  test('kinds of which there are none', async () => {
    expect(await list(admin(), 'subnet', 'pool', 'list')).toEqual([])
    expect((await list(admin(), 'extension', 'list', '--network')).map((row) => row.Alias)).toContain('external-net')
  })

  test('a network goes with its subnet', async () => {
    await openstack(admin(), 'subnet', 'delete', 'inside-v4')
    await openstack(admin(), 'network', 'delete', 'inside')
    expect((await list(admin(), 'network', 'list')).map((row) => row.Name)).toEqual(['public'])
  })
})
