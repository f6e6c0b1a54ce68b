import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADMIN_PASSWORD, type Method, openTestBed, type TestBed } from './testing/test-bed.ts'

let bed: TestBed
let admin: string
let member: string
let stranger: string
let projectId: string

beforeAll(async () => {
  bed = await openTestBed()
  admin = await bed.adminLogin()
  projectId = (await bed.admission.createProject({ name: 'one', description: '' })).id
  const other = (await bed.admission.createProject({ name: 'two', description: '' })).id
  member = (await bed.login('m', projectId, 'member')).token
  stranger = (await bed.login('s', other, 'member')).token
})
afterAll(() => bed.close())

const call: TestBed['ask'] = (...all) => bed.ask(...all)

const password = (change: object = {}, scope?: unknown) => ({
  auth: {
    identity: {
      methods: ['password'],
      password: { user: { name: 'admin', domain: { id: 'default' }, password: ADMIN_PASSWORD, ...change } },
    },
    ...(scope !== undefined && { scope }),
  },
})
const inAdmin = { project: { name: 'admin', domain: { name: 'Default' } } }

describe('version documents', () => {
  test("as the clients' discovery expects them", async () => {
    const root = await call('GET', '/identity/', null)
    expect(root.status).toBe(300)
    expect(root.body.versions.values[0]).toMatchObject({ id: 'v3.14', status: 'stable' })
    expect((await call('GET', '/identity/v3', null)).body.version.id).toBe('v3.14')
    expect((await call('GET', '/network/', null)).body.versions[0]).toMatchObject({ id: 'v2.0', status: 'CURRENT' })
  })
})

describe('tokens', () => {
  test('a scoped one with roles and a catalog of versionless addresses', async () => {
    const { status, body, headers } = await call('POST', '/identity/v3/auth/tokens', null, password({}, inAdmin))
    expect(status).toBe(201)
    expect(headers['x-subject-token']).toMatch(/^[\w-]{43}$/)
    expect(body.token).toMatchObject({ methods: ['password'], project: { name: 'admin' }, user: { name: 'admin' } })
    expect(body.token.roles.map((role: { name: string }) => role.name)).toEqual(['admin', 'member', 'reader'])
    const urls = Object.fromEntries(
      body.token.catalog.map((service: { type: string; endpoints: { url: string }[] }) => [
        service.type,
        service.endpoints[0]?.url,
      ]),
    )
    expect(urls['load-balancer']).toMatch(/^http:\/\/[^/]+\/load-balancer$/)
    expect(urls.network).toMatch(/^http:\/\/[^/]+\/network$/)
  })

  test('asked about by their owner and administrators alone', async () => {
    const subject = { 'x-subject-token': member }
    expect((await call('GET', '/identity/v3/auth/tokens', member, undefined, subject)).status).toBe(200)
    expect((await call('HEAD', '/identity/v3/auth/tokens', admin, undefined, subject)).status).toBe(200)
    expect((await call('GET', '/identity/v3/auth/tokens', stranger, undefined, subject)).status).toBe(404)
    expect((await call('DELETE', '/identity/v3/auth/tokens', stranger, undefined, subject)).status).toBe(404)
  })

  test.each([
    ['a wrong password', password({ password: 'x' }), 401, /user, password, credential or scope/],
    ['another domain', password({ domain: { id: 'corp' } }), 401, /is not the domain Default/],
    ['a project that is not his', password({}, { project: { id: 'x' } }), 401, /user, password, credential or scope/],
    ['a system scope', password({}, { system: { all: true } }), 400, /auth\.scope\.system/],
    ['no body', undefined, 400, /body/],
    ['no method', { auth: { identity: { methods: [] } } }, 400, /auth\.identity\.methods/],
    ['two methods', { auth: { identity: { methods: ['password', 'token'] } } }, 400, /auth\.identity\.methods/],
    ['a method we lack', { auth: { identity: { methods: ['totp'] } } }, 400, /auth\.identity\.methods\[0\]/],
    ['no password', { auth: { identity: { methods: ['password'] } } }, 400, /auth\.identity\.password is required/],
    ['a number', password({ password: 7 }), 400, /auth\.identity\.password\.user\.password/],
    ['a list as name', password({ name: ['admin'] }), 400, /auth\.identity\.password\.user\.name/],
  ])("%s is refused in Keystone's format", async (_what, body, status, message) => {
    const reply = await call('POST', '/identity/v3/auth/tokens', null, body)
    expect(reply.status).toBe(status)
    expect(reply.body).toEqual({
      error: { code: status, message: expect.stringMatching(message), title: expect.any(String) },
    })
    if (status === 401) expect(reply.headers['www-authenticate']).toMatch(/^Keystone uri=/)
  })
})

describe('identity for users who are not administrators', () => {
  test.each([
    ['POST', '/identity/v3/projects', { project: { name: 'x' } }, 403],
    ['POST', '/identity/v3/users', { user: { name: 'x' } }, 403],
    ['GET', '/identity/v3/services', undefined, 403],
    ['DELETE', '/identity/v3/projects/6f1c3b1e-6a4e-4c56-9f0b-000000000001', undefined, 403],
    ['GET', '/identity/v3/projects/6f1c3b1e-6a4e-4c56-9f0b-000000000001', undefined, 404],
    ['GET', '/identity/v3/nowhere', undefined, 404],
  ] as const)('%s %s', async (method, url, payload, status) => {
    const reply = await call(method, url, member, payload)
    expect(reply.status).toBe(status)
    expect(reply.body.error.code).toBe(status)
    expect((await call(method, url, null, payload)).status).toBe(url.endsWith('nowhere') ? 404 : 401)
  })

  test('sees only itself', async () => {
    const { body } = await call('GET', '/identity/v3/users', member)
    expect(body.users.map((user: { name: string }) => user.name)).toEqual(['m'])
    const projects = await call('GET', '/identity/v3/projects', member)
    expect(projects.body.projects.map((project: { id: string }) => project.id)).toEqual([projectId])
    const grants = await call('GET', '/identity/v3/role_assignments', member)
    expect(grants.body.role_assignments).toHaveLength(1)
    const users = bed.view.list('user').find((user) => user.name === 's')?.id
    expect((await call('GET', `/identity/v3/users/${users}`, member)).status).toBe(404)
    expect((await call('GET', `/identity/v3/users/${users}/application_credentials`, member)).status).toBe(404)
  })
})

describe('network', () => {
  const network = (change: object) => ({ network: { name: 'n', ...change } })

  test.each([
    ['networks', network({ colour: 1 }), 400, 'network.colour'],
    ['networks', network({ shared: true }), 400, 'network.shared'],
    ['networks', network({ 'provider:network_type': 'vxlan' }), 400, 'network.provider:network_type'],
    ['networks', network({ 'provider:network_type': 'vlan' }), 400, 'network.provider:physical_network'],
    ['networks', {}, 400, 'network'],
    ['subnets', { subnet: { cidr: '10.0.0.0/24' } }, 400, 'subnet.network_id'],
    ['ports', { port: { network_id: 'x' } }, 400, 'port.network_id'],
    ['floatingips', { floatingip: {} }, 400, 'floatingip.floating_network_id'],
  ])('POST %s %j names the field', async (path, body, status, field) => {
    const reply = await call('POST', `/network/v2.0/${path}`, admin, body)
    expect(reply.status).toBe(status)
    expect(reply.body.NeutronError.message).toContain(field)
  })

  test('segments are for administrators', async () => {
    const wanted = network({ 'provider:physical_network': 'physnet2', 'provider:segmentation_id': 7 })
    const refused = await call('POST', '/network/v2.0/networks', member, wanted)
    expect(refused).toMatchObject({ status: 403, body: { NeutronError: { type: 'PolicyNotAuthorized' } } })
    const made = await call('POST', '/network/v2.0/networks', admin, wanted)
    expect(made.body.network).toMatchObject({ 'provider:segmentation_id': 7, 'provider:network_type': 'vlan' })
    await bed.admission.deleteNetwork(made.body.network.id)
  })

  test('tenants do not see each other', async () => {
    const { body } = await call('POST', '/network/v2.0/networks', member, network({}))
    const { id } = body.network
    expect(body.network).not.toHaveProperty('provider:physical_network')
    const subnet = await call('POST', '/network/v2.0/subnets', member, {
      subnet: { network_id: id, cidr: '10.1.0.0/24', gateway_ip: null },
    })
    expect(subnet.body.subnet.gateway_ip).toBeNull()
    const port = await call('POST', '/network/v2.0/ports', member, { port: { network_id: id } })
    expect(port.status).toBe(201)
    const tries: [Method, string, unknown?][] = [
      ['GET', `networks/${id}`],
      ['DELETE', `networks/${id}`],
      ['GET', `subnets/${subnet.body.subnet.id}`],
      ['DELETE', `subnets/${subnet.body.subnet.id}`],
      ['GET', `ports/${port.body.port.id}`],
      ['PUT', `ports/${port.body.port.id}`, { port: {} }],
      ['DELETE', `ports/${port.body.port.id}`],
      ['POST', 'ports', { port: { network_id: id } }],
      ['POST', 'subnets', { subnet: { network_id: id, cidr: '10.2.0.0/24' } }],
    ]
    for (const [method, path, payload] of tries) {
      const reply = await call(method, `/network/v2.0/${path}`, stranger, payload)
      expect([method, path, reply.status]).toEqual([method, path, 404])
    }
    for (const plural of ['networks', 'subnets', 'ports'])
      expect((await call('GET', `/network/v2.0/${plural}`, stranger)).body[plural]).toEqual([])
    expect((await call('DELETE', `/network/v2.0/ports/${port.body.port.id}`, member)).status).toBe(204)
  })

  test.each([
    ['name=n', 1],
    ['name=other', 0],
    ['name=other&name=n', 1],
    ['router:external=False', 1],
    ['router%3Aexternal=true', 0],
    ['shared=false&status=ACTIVE', 1],
    ['limit=0', 1],
    ['tags=x', 0],
  ])('networks?%s', async (query, count) => {
    expect((await call('GET', `/network/v2.0/networks?${query}`, member)).body.networks).toHaveLength(count)
  })

  test('fields, markers and mistakes in queries', async () => {
    const { body } = await call('GET', '/network/v2.0/networks?fields=id&fields=name', member)
    expect(Object.keys(body.networks[0])).toEqual(['id', 'name'])
    const after = await call('GET', `/network/v2.0/networks?limit=1&marker=${body.networks[0].id}`, member)
    expect(after.body.networks).toEqual([])
    for (const query of ['marker=x', 'limit=x', 'limit=1&limit=2', 'colour=red'])
      expect((await call('GET', `/network/v2.0/networks?${query}`, member)).status).toBe(400)
  })
})
