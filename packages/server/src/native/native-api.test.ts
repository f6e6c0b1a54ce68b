import { randomUUID } from 'node:crypto'
import { issueCertificate } from '@spout/testkit/tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADMIN_PASSWORD, type Method, openTestBed, type TestBed } from '../testing/test-bed.ts'
import { ROUTES } from './routes.ts'

let bed: TestBed
let admin: string
/** Two tenants: a member and a reader of one, a member of the other. */
let member: string
let reader: string
let stranger: string
let projectId: string
let poolId: string

beforeAll(async () => {
  bed = await openTestBed()
  admin = await bed.adminLogin()
  projectId = (await bed.admission.createProject({ name: 'one', description: '' })).id
  const other = (await bed.admission.createProject({ name: 'two', description: '' })).id
  member = (await bed.login('m', projectId, 'member')).token
  reader = (await bed.login('r', projectId, 'reader')).token
  stranger = (await bed.login('s', other, 'member')).token
  const pool = await call('POST', '/address-pools', admin, {
    name: 'public',
    ranges: [{ first: '198.51.100.1', last: '198.51.100.250' }],
    cidr: '198.51.100.0/24',
    quarantineSeconds: 0,
  })
  poolId = pool.body.id
  const network = await call('POST', '/networks', member, { name: 'inside' })
  await call('POST', `/networks/${network.body.id}/subnets`, member, { cidr: '10.9.0.0/24' })
})
afterAll(() => bed.close())

const call: TestBed['askNative'] = (...all) => bed.askNative(...all)

const web = () => ({
  name: 'web',
  vips: [{ from: 'pool', poolId }],
  pools: [
    {
      name: 'p',
      protocol: 'tcp',
      members: [
        { name: 'a', address: '10.9.0.11', port: 80 },
        { name: 'b', address: '10.9.0.12', port: 80 },
      ],
      monitor: { type: 'http', http: { path: '/ready' } },
    },
  ],
  listeners: [{ name: 'l', protocol: 'tcp', port: 80, defaultPool: 'p' }],
})

const create = async (change: object = {}) => {
  const created = await call('POST', '/load-balancers', member, { ...web(), ...change })
  expect(created.status, JSON.stringify(created.body)).toBe(201)
  return created
}

describe('load balancers', () => {
  test('created with everything in it, read back, written back unchanged', async () => {
    const { body, headers } = await create()
    expect(body).toMatchObject({ name: 'web', projectId, status: { provisioning: 'pending' } })
    expect(body.listeners[0]).toMatchObject({ port: 80, defaultPoolId: body.pools[0].id })
    expect(body.pools[0].monitor.http).toMatchObject({ method: 'GET', path: '/ready', version: '1.0' })
    const read = await call('GET', `/load-balancers/${body.id}`, reader)
    expect(read.headers.etag).toBe(headers.etag)
    const written = await call('PUT', `/load-balancers/${body.id}`, member, read.body, {
      'if-match': read.headers.etag,
    })
    expect(written.status).toBe(200)
    expect({ ...written.body, generation: 0, updatedAt: null }).toEqual({
      ...read.body,
      generation: 0,
      updatedAt: null,
    })
  })

  test('two listeners of one port, of which one passes TLS on, keep their ids without being told them', async () => {
    const passing = { protocol: 'tls-passthrough', port: 443 }
    const { body } = await create({ listeners: [passing, { protocol: 'http', port: 80 }], pools: [] })
    const [known] = body.listeners
    const { certificate: chain, key } = issueCertificate({ names: ['a.example'] })
    const certificate = await call('POST', '/certificates', member, { name: 'a', chain, key })
    const both = [{ protocol: 'tls', port: 443, tls: { certificateIds: [certificate.body.id] } }, passing]
    const put = await call('PUT', `/load-balancers/${body.id}`, member, { vips: body.vips, listeners: both })
    expect(put).toMatchObject({ status: 200 })
    const [ending, kept] = put.body.listeners
    expect([kept.id, ending.id === kept.id]).toEqual([known.id, false])
    const again = await call('PUT', `/load-balancers/${body.id}`, member, { vips: body.vips, listeners: both })
    expect(again.body.listeners.map(({ id }: { id: string }) => id)).toEqual([ending.id, kept.id])
  })

  test('a pool refuses a part of its connections until it says 0 or nothing', async () => {
    const { body } = await create({ pools: [{ name: 'p', protocol: 'tcp', refusedPercent: 12.5 }] })
    const path = `/load-balancers/${body.id}/pools/${body.pools[0].id}`
    expect((await call('GET', path, member)).body).toMatchObject({ refusedPercent: 12.5 })
    for (const refusedPercent of [0, null, undefined]) {
      const put = await call('PUT', path, member, { name: 'p', protocol: 'tcp', refusedPercent })
      expect(put.body).not.toHaveProperty('refusedPercent')
    }
  })

  test('If-Match refuses a version that was replaced meanwhile', async () => {
    const { body, headers } = await create()
    const path = `/load-balancers/${body.id}`
    expect((await call('PUT', path, member, { ...body, name: 'first' }, { 'if-match': headers.etag })).status).toBe(200)
    const late = await call('PUT', path, member, { ...body, name: 'second' }, { 'if-match': headers.etag })
    expect(late).toMatchObject({ status: 412, body: { code: 'VersionMismatch', retry: 'onChange' } })
    expect((await call('GET', path, member)).body.name).toBe('first')
  })

  test('parts: added, replaced, listed, removed', async () => {
    const { body } = await create()
    const root = `/load-balancers/${body.id}`
    const pool = await call('POST', `${root}/pools`, member, { name: 'q', protocol: 'tcp' })
    expect(pool.status).toBe(201)
    const full = await call('PUT', `${root}/pools/${pool.body.id}/members`, member, {
      members: [
        { address: '10.9.0.21', port: 1 },
        { address: '10.9.0.22', port: 1 },
      ],
    })
    const [kept] = full.body.members
    const less = await call('PUT', `${root}/pools/${pool.body.id}/members`, member, {
      members: [{ address: '10.9.0.21', port: 1 }],
    })
    expect(less.body.members).toEqual([kept])
    const listener = await call('POST', `${root}/listeners`, member, { protocol: 'udp', port: 53 })
    expect(listener.status).toBe(201)
    const path = `${root}/listeners/${listener.body.id}`
    expect((await call('PUT', path, member, { protocol: 'udp', port: 54 })).body).toMatchObject({
      id: listener.body.id,
      port: 54,
    })
    expect((await call('GET', `${root}/listeners`, member)).body.items).toHaveLength(2)
    expect((await call('DELETE', path, member)).status).toBe(204)
    expect((await call('GET', path, member)).status).toBe(404)
    const inUse = await call('DELETE', `${root}/pools/${body.pools[0].id}`, member)
    expect(inUse).toMatchObject({ status: 409, body: { code: 'InUse' } })
    expect((await call('DELETE', root, member)).status).toBe(204)
    expect((await call('GET', root, member)).status).toBe(404)
  })

  test.each([
    ['UnknownField', 'colour', { colour: 'red' }],
    ['MissingField', 'vips', { vips: undefined }],
    ['InvalidField', 'vips', { vips: [] }],
    ['InvalidField', 'vips[0].poolId', { vips: [{ from: 'pool', poolId: 'x' }] }],
    ['InvalidField', 'listeners[0].port', { listeners: [{ protocol: 'tcp', port: 0 }] }],
    ['InvalidField', 'listeners[0].protocol', { listeners: [{ protocol: 'quic', port: 1 }] }],
    ['ReferenceNotFound', 'listeners[0].defaultPool', { listeners: [{ protocol: 'tcp', port: 1, defaultPool: 'x' }] }],
    [
      'PortTaken',
      'listeners[1].port',
      {
        listeners: [
          { protocol: 'tcp', port: 1 },
          { protocol: 'tcp', port: 1 },
        ],
      },
    ],
    [
      'InvalidField',
      'pools[0].members[0].address',
      { listeners: [], pools: [{ protocol: 'tcp', members: [{ address: '010.9.0.1', port: 1 }] }] },
    ],
    [
      'InvalidField',
      'pools[0].members[0].address',
      { listeners: [], pools: [{ protocol: 'tcp', members: [{ address: '127.0.0.1', port: 1 }] }] },
    ],
    [
      'MissingField',
      'pools[0].members[0].port',
      { listeners: [], pools: [{ protocol: 'tcp', members: [{ address: '10.9.0.1' }] }] },
    ],
    [
      'InvalidField',
      'pools[0].monitor.http.path',
      { listeners: [], pools: [{ protocol: 'tcp', monitor: { type: 'http', http: { path: '/a b' } } }] },
    ],
    ['InvalidField', 'pools[0].refusedPercent', { listeners: [], pools: [{ protocol: 'http', refusedPercent: 10 }] }],
    ['InvalidField', 'pools[0].refusedPercent', { listeners: [], pools: [{ protocol: 'tcp', refusedPercent: 100.1 }] }],
    [
      'InvalidField',
      'pools[0].persistence.networks',
      {
        listeners: [],
        pools: [{ protocol: 'http', persistence: { type: 'source-ip', networks: { ipv4Prefix: 24 } } }],
      },
    ],
    ['InvalidField', 'tags[0]', { tags: [''] }],
    ['InvalidField', 'name', { name: 'x'.repeat(256) }],
    [
      'ReferenceNotFound',
      'pools[0].id',
      { listeners: [], pools: [{ id: '6f1c3b1e-6a4e-4c56-9f0b-000000000001', protocol: 'tcp' }] },
    ],
  ])('a mistake in one field: %s %s', async (code, field, change) => {
    const before = await bed.store.revision()
    const { status, body } = await call('POST', '/load-balancers', member, { ...web(), ...change })
    expect(body).toMatchObject({ code, field })
    expect(status).toBe(code === 'PortTaken' ? 409 : 400)
    expect(await bed.store.revision()).toBe(before)
  })

  test.each([
    ['listeners', { protocol: 'tcp', port: 80 }, 409, 'PortTaken', 'port'],
    ['listeners', { protocol: 'tcp', port: 'x' }, 400, 'InvalidField', 'port'],
    [
      'pools',
      {
        protocol: 'tcp',
        members: [
          { address: '10.9.0.1', port: 1 },
          { address: '10.9.0.1', port: 1 },
        ],
      },
      409,
      'MemberTaken',
      'members[1].port',
    ],
  ])('a mistake in one part names the part’s own field: %s %j', async (plural, part, status, code, field) => {
    const { body } = await create()
    const refused = await call('POST', `/load-balancers/${body.id}/${plural}`, member, part)
    expect(refused).toMatchObject({ status, body: { code, field } })
  })

  test.each(['id', 'projectId', 'createdAt'])('%s cannot be changed', async (field) => {
    const { body } = await create()
    const changed = { ...body, [field]: '6f1c3b1e-6a4e-4c56-9f0b-000000000001' }
    const refused = await call('PUT', `/load-balancers/${body.id}`, member, changed)
    expect(refused).toMatchObject({ status: 400, body: { code: 'ImmutableField', field } })
  })

  test('explain goes from the address to the members', async () => {
    const { body } = await create()
    const [a, b] = body.pools[0].members
    const base = { loadBalancerId: body.id, poolId: body.pools[0].id, since: '2026-01-01T00:00:00.000Z' }
    bed.status.set(body.id, {
      provisioning: 'active',
      reason: 'Programmed',
      members: new Map([
        [a.id, { ...base, memberId: a.id, health: 'up', reason: null }],
        [b.id, { ...base, memberId: b.id, health: 'down', reason: 'connection refused' }],
      ]),
    })
    const { body: path } = await call('GET', `/load-balancers/${body.id}/explain`, reader)
    expect(path.state.reason).toBe('Programmed')
    expect(path.vips[0].address).toBe(body.vips[0].address)
    expect(path.listeners[0]).toMatchObject({ port: 80, poolId: body.pools[0].id, answers: true, why: null })
    expect(path.pools[0].members).toMatchObject([
      { name: 'a', health: 'up', takesTraffic: true, why: null },
      { name: 'b', health: 'down', reason: 'connection refused', takesTraffic: false, why: 'it is down' },
    ])
    expect(path.pools[0].refusedPercent).toBe(0)
  })

  test('explain tells of refused connections, and who has what no route of a passing listener takes', async () => {
    const { certificate: chain, key } = issueCertificate({ names: ['b.example'] })
    const certificate = await call('POST', '/certificates', member, { name: 'b', chain, key })
    const { body } = await create({
      listeners: [
        { protocol: 'tls-passthrough', port: 443 },
        { name: 'ends', protocol: 'tls', port: 443, tls: { certificateIds: [certificate.body.id] } },
      ],
      pools: [{ name: 'p', protocol: 'tcp', refusedPercent: 25 }],
    })
    const { body: path } = await call('GET', `/load-balancers/${body.id}/explain`, reader)
    expect(path.pools[0].refusedPercent).toBe(25)
    expect(path.listeners).toMatchObject([
      { others: { id: body.listeners[1].id, name: 'ends' }, why: null },
      { others: null, why: 'it has no pool: connections are refused' },
    ])
  })
})

describe('access', () => {
  test("another tenant's objects look as if they did not exist, for any method", async () => {
    const { body } = await create({ name: 'private' })
    const root = `/load-balancers/${body.id}`
    const tries: [Method, string, unknown?][] = [
      ['GET', root],
      ['PUT', root, body],
      ['DELETE', root],
      ['GET', `${root}/explain`],
      ['GET', `${root}/listeners`],
      ['POST', `${root}/pools`, { protocol: 'tcp' }],
      ['PUT', `${root}/pools/${body.pools[0].id}/members`, { members: [] }],
      ['GET', `/addresses/${body.vips[0].addressId}`],
      ['DELETE', `/addresses/${body.vips[0].addressId}`],
      ['GET', `/networks/${bed.view.list('network')[0]?.id}`],
      ['GET', `/projects/${projectId}`],
      ['GET', `/projects/${projectId}/quota`],
    ]
    for (const [method, path, payload] of tries) {
      const reply = await call(method, path, stranger, payload)
      expect([method, path, reply.status]).toEqual([method, path, 404])
    }
    for (const path of ['/load-balancers', '/networks', '/addresses'])
      expect((await call('GET', `${path}?project=${projectId}`, stranger)).body.items).toEqual([])
    expect((await call('GET', '/load-balancers?name=private', member)).body.items).toHaveLength(1)
    expect((await call('GET', '/load-balancers?name=private', admin)).body.items).toHaveLength(1)
  })

  test.each(ROUTES.map((route) => [route.method, route.path, route.access] as const))(
    '%s %s needs %s',
    async (method, path, access) => {
      const url = path.replaceAll(/:\w+/g, '6f1c3b1e-6a4e-4c56-9f0b-000000000009')
      if (access === 'anyone') return
      expect((await call(method, url, null, {})).status).toBe(401)
      expect((await call(method, url, 'no-such-token', {})).status).toBe(401)
      if (access === 'member' || access === 'admin') expect((await call(method, url, reader, {})).status).toBe(403)
      if (access === 'admin') expect((await call(method, url, member, {})).status).toBe(403)
    },
  )

  test('a member may not name another project, a segment or a return path', async () => {
    const foreign = await call('POST', '/load-balancers', stranger, { ...web(), projectId })
    expect(foreign).toMatchObject({ status: 403, body: { code: 'Forbidden' } })
    const segment = { physicalNetwork: 'physnet1', vlan: 7 }
    expect((await call('POST', '/networks', member, { segment })).status).toBe(403)
    expect((await call('POST', '/networks', member, { returnPath: 'gateway' })).status).toBe(403)
    expect((await call('POST', '/networks', admin, { segment, projectId })).status).toBe(201)
  })
})

describe('announcements', () => {
  test('node groups: shards get router ids, a change keeps absent fields, one in use cannot be deleted', async () => {
    const made = await call('POST', '/node-groups', admin, { name: 'edge' })
    expect(made).toMatchObject({
      status: 201,
      body: { announcer: 'vrrp', vrrp: { profile: 'default', shards: 4, excludedRouterIds: [] }, bgp: null },
    })
    expect(new Set(made.body.vrrp.routerIds).size).toBe(4)
    // The secret that the group's nodes share is in no answer.
    for (const shown of [made.body, (await call('GET', `/node-groups/${made.body.id}`, admin)).body])
      expect(shown).not.toHaveProperty('flowsKey')
    const path = `/node-groups/${made.body.id}`
    const fast = await call('PATCH', path, admin, { vrrp: { profile: 'fast', shards: 2 } })
    expect(fast.body).not.toHaveProperty('flowsKey')
    expect(fast.body.vrrp).toMatchObject({ profile: 'fast', routerIds: made.body.vrrp.routerIds.slice(0, 2) })
    const refused = await call('PATCH', path, admin, { announcer: 'bgp' })
    expect(refused).toMatchObject({ status: 400, body: { code: 'MissingField', field: 'bgp.localAs' } })
    const routed = await call('PATCH', path, admin, { announcer: 'bgp', bgp: { localAs: 64_500 } })
    expect(routed.body.bgp).toEqual({ localAs: 64_500, policy: 'healthy', drainSeconds: 10 })
    expect((await call('PATCH', path, admin, { bgp: { policy: 'always' } })).body.bgp).toMatchObject({
      localAs: 64_500,
    })
    expect((await call('PATCH', path, admin, { vrrp: { speed: 9 } })).body).toMatchObject({
      code: 'UnknownField',
      field: 'vrrp.speed',
    })
    await call('POST', '/enrolment-tokens', admin, { nodeName: 'edge-1', nodeGroupId: made.body.id })
    expect(await call('DELETE', path, admin)).toMatchObject({ status: 409, body: { code: 'InUse' } })
  })

  test('a BGP peer never shows its secret, and keeps it when it is written back as it was read', async () => {
    const made = await call('POST', '/bgp-peers', admin, {
      name: 'tor-a',
      address: '192.0.2.251',
      as: 64_600,
      md5Secret: 'hush-hush',
    })
    expect(made).toMatchObject({ status: 201, body: { md5Secret: '[redacted]', holdTimeS: null } })
    const path = `/bgp-peers/${made.body.id}`
    const {
      status: _,
      effective,
      selected: _s,
      id: _id,
      createdAt: _c,
      updatedAt: _u,
      ...read
    } = (await call('GET', path, admin)).body
    expect(effective).toMatchObject({ as: 64_600, holdTimeS: 9, md5: true, families: ['ipv4'] })
    expect(effective).not.toHaveProperty('md5Secret')
    const written = await call('PATCH', path, admin, { ...read, description: 'top of rack', holdTimeS: 30 })
    expect(written.body).toMatchObject({ description: 'top of rack', holdTimeS: 30, md5Secret: '[redacted]' })
    expect(bed.view.get('bgpPeer', made.body.id)?.value.md5Secret).toBe('hush-hush')
    expect((await call('PATCH', path, admin, { holdTimeS: null })).body).toMatchObject({
      holdTimeS: null,
      description: 'top of rack',
    })
    expect(JSON.stringify((await call('GET', '/bgp-peers', admin)).body)).not.toContain('hush')
    expect((await call('PATCH', path, admin, { md5Secret: '' })).body.md5Secret).toBe('')
    const made2 = await call('POST', '/bgp-advertisements', admin, { name: 'x', peerIds: [made.body.id], med: 5 })
    expect(made2.body).toMatchObject({ number: 2, communities: [] })
    expect(await call('DELETE', path, admin)).toMatchObject({ status: 409 })
    expect((await call('PATCH', `/bgp-advertisements/${made2.body.id}`, admin, { peerIds: null })).body.med).toBe(5)
    expect((await call('DELETE', path, admin)).status).toBe(204)
  })

  test('VIPs: tenants see their own, with announcers and the last move', async () => {
    const { body } = await create({ name: 'seen' })
    const { address } = body.vips[0]
    const node = { nodeId: 'n1', nodeName: 'n1', connection: 'connected' as const, state: 'programmed' as const }
    bed.status.set(body.id, { nodes: [{ ...node, message: null, announced: [address] }] })
    const move = { at: '2026-01-01T00:00:00.000Z', reason: 'MasterSilent', durationMs: 83 }
    bed.ownership.moves.set(body.id, [{ ...move, event: 'taken', nodeId: 'n1', fromNodeId: 'n2' }])
    const { body: listed } = await call('GET', '/vips', reader)
    expect(listed.items.find((one: { address: string }) => one.address === address)).toMatchObject({
      loadBalancerName: 'seen',
      projectName: null,
      owners: ['n1'],
      state: 'announced',
      lastMove: { node: 'n1', from: 'n2', ...move },
    })
    expect((await call('GET', '/vips', stranger)).body.items).toEqual([])
    expect((await call('GET', '/vips?node=n9', admin)).body.items).toEqual([])
    expect((await call('GET', '/vips?node=n1', admin)).body.items).toMatchObject([{ projectName: 'one' }])
    for (const path of [`/vips/${address}`, `/vips/${address}/history`, `/vips/${address}/explain`]) {
      expect((await call('GET', path, reader)).status).toBe(200)
      expect((await call('GET', path, stranger)).status).toBe(404)
    }
    expect((await call('GET', `/vips/${address}/explain`, reader)).body.nodes[0]).not.toHaveProperty('sessions')
    expect((await call('GET', `/vips/${address}/explain`, admin)).body.nodes[0]).toHaveProperty('sessions')
    expect((await call('GET', '/vips/nonsense', reader)).body).toMatchObject({ code: 'InvalidField', field: 'address' })
  })
})

describe('the others', () => {
  test('log in, ask about the token, log out', async () => {
    const login = { userName: 'admin', password: ADMIN_PASSWORD, projectName: 'admin' }
    const { status, body } = await call('POST', '/tokens', null, login)
    expect(status).toBe(201)
    expect((await call('GET', '/tokens/current', body.token)).body).toMatchObject({
      userName: 'admin',
      projectName: 'admin',
    })
    expect((await call('DELETE', '/tokens/current', body.token)).status).toBe(204)
    expect((await call('GET', '/tokens/current', body.token)).status).toBe(401)
    const wrong = await call('POST', '/tokens', null, { ...login, password: 'x' })
    const nobody = await call('POST', '/tokens', null, { ...login, userName: 'nobody' })
    expect(wrong.status).toBe(401)
    expect({ ...nobody.body, instance: '' }).toEqual({ ...wrong.body, instance: '' })
  })

  test('users show no password, quotas change only given limits', async () => {
    const created = await call('POST', '/users', admin, { name: 'u', password: 'secret-password' })
    expect(created.body).toMatchObject({ name: 'u', hasPassword: true })
    expect(JSON.stringify([created.body, (await call('GET', '/users', admin)).body])).not.toMatch(
      /scrypt|secret-password/,
    )
    const quota = await call('PUT', `/projects/${projectId}/quota`, admin, { limits: { pools: 7 } })
    expect(quota.body.limits).toMatchObject({ pools: 7, members: 5000 })
    const wrong = await call('PUT', `/projects/${projectId}/quota`, admin, { limits: { pools: -1 } })
    expect(wrong.body).toMatchObject({ code: 'InvalidField', field: 'limits.pools' })
    await call('PUT', `/projects/${projectId}/quota`, admin, { limits: { pools: 500 } })
  })

  test('a repeated query parameter is refused by its name', async () => {
    for (const query of ['name=a&name=b', 'watch=0&watch=1', 'project=x&project=x']) {
      const refused = await call('GET', `/load-balancers?${query}`, admin)
      const field = query.split('=', 1)[0]
      expect(refused).toMatchObject({ status: 400, body: { code: 'InvalidField', field } })
    }
  })

  test('a name with NUL is refused by its field', async () => {
    const refused = await call('POST', '/projects', admin, { name: 'a\0b' })
    expect(refused).toMatchObject({ status: 400, body: { code: 'InvalidField', field: 'name' } })
  })

  test('a project has the id that its administrator chooses, once', async () => {
    const id = randomUUID()
    const made = await call('POST', '/projects', admin, { id, name: 'moved' })
    expect(made).toMatchObject({ status: 201, body: { id, name: 'moved' } })
    const again = await call('POST', '/projects', admin, { id, name: 'moved-again' })
    expect(again).toMatchObject({ status: 409, body: { code: 'AlreadyExists' } })
  })

  test('a node group is visible only to the projects that it is open to', async () => {
    const made = await call('POST', '/node-groups', admin, { name: 'theirs', projectIds: [projectId] })
    expect(made.body.projectIds).toEqual([projectId])
    const path = `/node-groups/${made.body.id}`
    expect((await call('GET', path, member)).status).toBe(200)
    expect((await call('GET', path, stranger)).status).toBe(404)
    const listed = await call('GET', '/node-groups?name=theirs', stranger)
    expect(listed.body.items).toEqual([])
    const refused = await call('POST', '/load-balancers', stranger, { ...web(), nodeGroupId: made.body.id })
    expect(refused).toMatchObject({ status: 400, body: { code: 'ReferenceNotFound', field: 'nodeGroupId' } })
    const opened = await call('PATCH', path, admin, { projectIds: null })
    expect(opened.body).not.toHaveProperty('projectIds')
    expect((await call('GET', path, stranger)).status).toBe(200)
    expect((await call('DELETE', path, admin)).status).toBe(204)
  })

  test('an enrolment token contains the pin and is shown once', async () => {
    const group = await call('POST', '/node-groups', admin, { name: 'g' })
    const made = await call('POST', '/enrolment-tokens', admin, { nodeName: 'lb-1', nodeGroupId: group.body.id })
    expect(made.body.token).toMatch(new RegExp(`^\\S+\\.${'f'.repeat(32)}$`))
    const listed = JSON.stringify((await call('GET', '/enrolment-tokens', admin)).body)
    expect(listed).not.toContain(made.body.token.split('.')[0])
    expect(listed).not.toContain('secretSha256')
  })

  test('the API document is served as rendered', async () => {
    const { body } = await call('GET', '/openapi.json', null)
    expect(body.openapi).toBe('3.1.0')
  })
})
