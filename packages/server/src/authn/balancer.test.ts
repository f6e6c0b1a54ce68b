import { issueCertificate } from '@spout/testkit/tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROUTES } from '../native/routes.ts'
import { type Method, openTestBed, type TestBed } from '../testing/test-bed.ts'

let bed: TestBed
let balancer: string
let member: string
let projectId: string
let networkId: string
let poolId: string
/** The objects of another project. */
let foreign: { readonly projectId: string; readonly networkId: string; readonly loadBalancerId: string }

beforeAll(async () => {
  bed = await openTestBed()
  projectId = (await bed.admission.createProject({ name: 'one', description: '' })).id
  const other = (await bed.admission.createProject({ name: 'two', description: '' })).id
  balancer = (await bed.login('b', projectId, 'balancer')).token
  member = (await bed.login('m', projectId, 'member')).token
  const stranger = (await bed.login('s', other, 'member')).token
  const admin = await bed.adminLogin()
  const pool = await call('POST', '/api/v1/address-pools', admin, {
    name: 'public',
    ranges: [{ first: '198.51.100.1', last: '198.51.100.250' }],
    cidr: '198.51.100.0/24',
  })
  poolId = pool.body.id
  const segment = { physicalNetwork: 'physnet1', vlan: 7 }
  networkId = (await call('POST', '/api/v1/networks', member, { name: 'n' })).body.id
  await call('POST', `/api/v1/networks/${networkId}/subnets`, member, { cidr: '10.9.0.0/24' })
  const theirs = await call('POST', '/api/v1/networks', admin, { name: 'n', projectId: other, segment })
  const balanced = await call('POST', '/api/v1/load-balancers', stranger, { vips: [{ from: 'pool', poolId }] })
  foreign = { projectId: other, networkId: theirs.body.id, loadBalancerId: balanced.body.id }
})
afterAll(() => bed.close())

const call = (method: string, url: string, token: string | null, payload?: unknown) =>
  bed.ask(method as Method, url, token, payload)

/**
 * For every operation of the native API: whether role `balancer` suffices. A new operation must be added to one of them.
 */
const NATIVE: Readonly<Record<string, 'may' | 'must not'>> = {
  'POST /tokens': 'may',
  'GET /tokens/current': 'may',
  'DELETE /tokens/current': 'may',
  'GET /session/ways': 'may',
  'POST /session/oidc': 'may',
  'POST /session': 'may',
  'GET /session': 'may',
  'DELETE /session': 'may',
  'PUT /session/project': 'must not',
  'GET /audit': 'must not',
  'GET /control-plane': 'must not',
  'GET /overview/load-balancers': 'must not',
  'GET /events': 'must not',
  'GET /problems': 'must not',
  'GET /load-balancers': 'may',
  'GET /load-balancers/:id': 'may',
  'POST /load-balancers': 'may',
  'POST /load-balancers/batch': 'may',
  'POST /load-balancers/member-changes': 'may',
  'PUT /load-balancers/:id': 'may',
  'PATCH /load-balancers/:id': 'may',
  'DELETE /load-balancers/:id': 'may',
  'GET /load-balancers/:id/explain': 'may',
  'GET /load-balancers/:id/requests': 'may',
  'GET /load-balancers/:id/figures': 'may',
  'GET /load-balancers/:id/member-history': 'may',
  'GET /load-balancers/:id/withdrawal': 'may',
  'POST /load-balancers/:id/vips': 'may',
  'DELETE /load-balancers/:id/vips/:address': 'may',
  'GET /load-balancers/:id/listeners': 'may',
  'GET /load-balancers/:id/listeners/:part': 'may',
  'POST /load-balancers/:id/listeners': 'may',
  'PUT /load-balancers/:id/listeners/:part': 'may',
  'PATCH /load-balancers/:id/listeners/:part': 'may',
  'DELETE /load-balancers/:id/listeners/:part': 'may',
  'POST /load-balancers/:id/listeners/:part/routes': 'may',
  'PUT /load-balancers/:id/listeners/:part/routes/:route': 'may',
  'DELETE /load-balancers/:id/listeners/:part/routes/:route': 'may',
  'POST /load-balancers/:id/listeners/:part/route-changes': 'may',
  'GET /load-balancers/:id/pools': 'may',
  'GET /load-balancers/:id/pools/:part': 'may',
  'POST /load-balancers/:id/pools': 'may',
  'PUT /load-balancers/:id/pools/:part': 'may',
  'PATCH /load-balancers/:id/pools/:part': 'may',
  'DELETE /load-balancers/:id/pools/:part': 'may',
  'PUT /load-balancers/:id/pools/:part/members': 'may',
  'PATCH /load-balancers/:id/pools/:part/members/:member': 'may',
  'GET /networks': 'may',
  'GET /networks/:id': 'may',
  'POST /networks': 'must not',
  'DELETE /networks/:id': 'must not',
  'POST /networks/:id/subnets': 'must not',
  'DELETE /networks/:id/subnets/:part': 'must not',
  'PUT /networks/:id/routes': 'may',
  'GET /address-pools': 'may',
  'GET /address-pools/:id': 'may',
  'GET /address-pools/:id/usage': 'must not',
  'POST /address-pools': 'must not',
  'PATCH /address-pools/:id': 'must not',
  'DELETE /address-pools/:id': 'must not',
  'GET /addresses': 'must not',
  'GET /addresses/:id': 'must not',
  'POST /addresses': 'must not',
  'PUT /addresses/:id/binding': 'must not',
  'DELETE /addresses/:id': 'must not',
  'GET /nodes': 'must not',
  'GET /nodes/:id': 'must not',
  'GET /nodes/:id/figures': 'must not',
  'PUT /nodes/:id/scheduling': 'must not',
  'PATCH /nodes/:id': 'must not',
  'DELETE /nodes/:id': 'must not',
  'GET /load-balancer-classes': 'may',
  'GET /load-balancer-classes/:id': 'may',
  'POST /load-balancer-classes': 'must not',
  'PATCH /load-balancer-classes/:id': 'must not',
  'DELETE /load-balancer-classes/:id': 'must not',
  'GET /node-groups': 'must not',
  'GET /node-groups/:id': 'must not',
  'POST /node-groups': 'must not',
  'PATCH /node-groups/:id': 'must not',
  'DELETE /node-groups/:id': 'must not',
  'POST /node-groups/:id/rebalance': 'must not',
  'GET /node-groups/:id/rebalance': 'must not',
  'GET /enrolment-tokens': 'must not',
  'GET /enrolment-tokens/:id': 'must not',
  'POST /enrolment-tokens': 'must not',
  'GET /bgp-peers': 'must not',
  'GET /bgp-peers/:id': 'must not',
  'POST /bgp-peers': 'must not',
  'PATCH /bgp-peers/:id': 'must not',
  'DELETE /bgp-peers/:id': 'must not',
  'GET /bgp-advertisements': 'must not',
  'GET /bgp-advertisements/:id': 'must not',
  'POST /bgp-advertisements': 'must not',
  'PATCH /bgp-advertisements/:id': 'must not',
  'DELETE /bgp-advertisements/:id': 'must not',
  'GET /certificates': 'may',
  'GET /certificates/:id': 'may',
  'POST /certificates': 'may',
  'PATCH /certificates/:id': 'may',
  'DELETE /certificates/:id': 'may',
  'GET /vips': 'must not',
  'GET /vips/:address': 'must not',
  'GET /vips/:address/history': 'must not',
  'GET /vips/:address/explain': 'must not',
  'GET /projects': 'may',
  'GET /projects/:id': 'must not',
  'POST /projects': 'must not',
  'PATCH /projects/:id': 'must not',
  'DELETE /projects/:id': 'must not',
  'GET /projects/:id/quota': 'may',
  'PUT /projects/:id/quota': 'must not',
  'GET /domain-claims': 'must not',
  'GET /domain-claims/:id': 'must not',
  'POST /domain-claims': 'must not',
  'POST /domain-claims/:id/check': 'must not',
  'DELETE /domain-claims/:id': 'must not',
  'GET /application-credentials': 'must not',
  'GET /application-credentials/:id': 'must not',
  'POST /application-credentials': 'must not',
  'DELETE /application-credentials/:id': 'must not',
  'GET /users': 'must not',
  'GET /users/:id': 'must not',
  'POST /users': 'must not',
  'PUT /users/:id': 'must not',
  'DELETE /users/:id': 'must not',
}

/** The requests to the facades that are not refused: they need no token, or concern the token that asks. */
const FACADES = new Set([
  'GET /identity/',
  'GET /identity',
  'GET /identity/v3',
  'POST /identity/v3/auth/tokens',
  'GET /identity/v3/auth/tokens',
  'DELETE /identity/v3/auth/tokens',
  'GET /identity/v3/auth/catalog',
  'GET /network/',
  'GET /network',
])

const ABSENT = '6f1c3b1e-6a4e-4c56-9f0b-000000000009'
const urlOf = (path: string): string => path.replaceAll(/:\w+/g, ABSENT)

describe('a token of role balancer', () => {
  test('has every operation of the native API classified', () => {
    expect(ROUTES.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(Object.keys(NATIVE).toSorted())
  })

  test.each(Object.entries(NATIVE).filter(([key]) => !/ \/(tokens|session)/.test(key)))(
    '%s: %s',
    async (key, verdict) => {
      const [method = '', path = ''] = key.split(' ')
      const { status } = await call(method, urlOf(`/api/v1${path}`), balancer, method === 'GET' ? undefined : {})
      if (verdict === 'must not') expect(status).toBe(403)
      else expect([200, 204, 400, 404]).toContain(status)
    },
  )

  test('is refused by every route of the facades, except for login and discovery', async () => {
    const facades = bed.routes.filter(({ url }) => /^\/(identity|network)/.test(url))
    expect(facades.length).toBeGreaterThan(60)
    for (const { method, url } of facades) {
      if (FACADES.has(`${method} ${url}`)) continue
      const { status } = await call(method, urlOf(url), balancer, method === 'GET' ? undefined : {})
      expect([method, url, status]).toEqual([method, url, 403])
    }
  })

  test('cannot see other projects', async () => {
    const { body } = await call('GET', '/api/v1/load-balancers', balancer)
    expect(body.items).toEqual([])
    expect((await call('GET', '/api/v1/networks', balancer)).body.items.map(({ id }: { id: string }) => id)).toEqual([
      networkId,
    ])
    for (const [method, path] of [
      ['GET', `/networks/${foreign.networkId}`],
      ['PUT', `/networks/${foreign.networkId}/routes`],
      ['GET', `/projects/${foreign.projectId}/quota`],
      ['GET', `/load-balancers/${foreign.loadBalancerId}`],
      ['PATCH', `/load-balancers/${foreign.loadBalancerId}`],
      ['DELETE', `/load-balancers/${foreign.loadBalancerId}`],
    ] as const) {
      const payload = method === 'GET' ? undefined : path.endsWith('routes') ? { routes: [] } : {}
      const { status } = await call(method, `/api/v1${path}`, balancer, payload)
      expect([method, path, status]).toEqual([method, path, 404])
    }
    const elsewhere = { projectId: foreign.projectId, vips: [{ from: 'pool', poolId }] }
    expect((await call('POST', '/api/v1/load-balancers', balancer, elsewhere)).status).toBe(403)
  })

  test('stores, replaces and deletes certificates of its project alone, and reads no key', async () => {
    const [one, two] = ['a.example', 'b.example'].map((name) => issueCertificate({ names: [name] }))
    const body = { name: 'web', chain: one!.certificate, key: one!.key }
    const made = await call('POST', '/api/v1/certificates', balancer, body)
    expect(made).toMatchObject({ status: 201, body: { projectId, names: ['a.example'] } })
    const path = `/api/v1/certificates/${made.body.id}`
    const replaced = await call('PATCH', path, balancer, { chain: two!.certificate, key: two!.key })
    expect(replaced.body).toMatchObject({ names: ['b.example'] })
    const shown = JSON.stringify([made.body, replaced.body, (await call('GET', path, balancer)).body])
    expect(shown).not.toMatch(/PRIVATE KEY|sealedKey/)
    expect((await call('DELETE', path, balancer)).status).toBe(204)
    const elsewhere = { ...body, projectId: foreign.projectId }
    expect((await call('POST', '/api/v1/certificates', balancer, elsewhere)).status).toBe(403)
    const theirs = await bed.admission.createCertificate(elsewhere)
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect(
        (await call(method, `/api/v1/certificates/${theirs.id}`, balancer, method === 'GET' ? undefined : {})).status,
      ).toBe(404)
  })

  test('creates, changes and deletes load balancers, sets routes to members and sees its quota', async () => {
    const route = { to: '10.244.3.0/24', via: '10.9.0.21' }
    const routed = await call('PUT', `/api/v1/networks/${networkId}/routes`, balancer, { routes: [route] })
    expect(routed).toMatchObject({ status: 200, body: { id: networkId, routes: [route] } })
    expect((await call('GET', `/api/v1/networks/${networkId}`, balancer)).body.routes).toEqual([route])
    const made = await call('POST', '/api/v1/load-balancers', balancer, {
      vips: [{ from: 'pool', poolId }],
      pools: [{ name: 'p', protocol: 'tcp', members: [{ address: '10.244.3.11', port: 8080 }] }],
      listeners: [{ protocol: 'tcp', port: 80, defaultPool: 'p' }],
    })
    expect(made).toMatchObject({ status: 201, body: { projectId, networkId } })
    const path = `/api/v1/load-balancers/${made.body.id}`
    const stranded = await call('PUT', `/api/v1/networks/${networkId}/routes`, balancer, { routes: [] })
    expect(stranded).toMatchObject({ status: 409, body: { code: 'InUse' } })
    expect((await call('PATCH', path, balancer, { name: 'renamed' })).body.name).toBe('renamed')
    expect((await call('GET', `/api/v1/projects/${projectId}/quota`, balancer)).body.used.loadBalancers).toBe(1)
    expect((await call('DELETE', `${path}?cascade=true`, balancer)).status).toBe(204)
    const bad = await call('PUT', `/api/v1/networks/${networkId}/routes`, balancer, {
      routes: [{ ...route, to: '10.9.0.0/16' }],
    })
    expect(bad).toMatchObject({ status: 400, body: { field: 'routes[0].to' } })
  })

  test('is renewed with the same role, even if its user has others elsewhere', async () => {
    const { userId, token } = await bed.login('double', projectId, 'balancer')
    const user = bed.view.get('user', userId)!.value
    await bed.admission.putUser({ ...user, roles: [...user.roles, { projectId: foreign.projectId, role: 'member' }] })
    const trade = (scope: unknown) =>
      call('POST', '/identity/v3/auth/tokens', null, {
        auth: { identity: { methods: ['token'], token: { id: token } }, ...(scope === null ? {} : { scope }) },
      })
    const renewed = await trade({ project: { id: projectId } })
    expect(renewed.status).toBe(201)
    expect(renewed.body.token.roles.map(({ name }: { name: string }) => name)).toEqual(['balancer'])
    expect((await trade({ project: { id: foreign.projectId } })).status).toBe(401)
    expect((await trade(null)).status).toBe(401)
  })

  test('comes from a credential that a member creates', async () => {
    const owner = await bed.login('owner', projectId, 'member')
    const made = await call('POST', `/identity/v3/users/${owner.userId}/application_credentials`, owner.token, {
      application_credential: { name: 'cluster', roles: [{ name: 'balancer' }] },
    })
    expect(made.status).toBe(201)
    const { id, secret } = made.body.application_credential
    const issued = await call('POST', '/api/v1/tokens', null, { applicationCredentialId: id, secret })
    expect(issued.body).toMatchObject({ projectId, roles: ['balancer'] })
    expect((await call('GET', '/api/v1/load-balancers', issued.body.token)).status).toBe(200)
    expect((await call('GET', '/api/v1/addresses', issued.body.token)).status).toBe(403)
    expect((await call('GET', '/api/v1/tokens/current', issued.body.token)).body.roles).toEqual(['balancer'])
  })

  test('adds to what a reader may do', async () => {
    const { userId } = await bed.login('both', projectId, 'balancer')
    const user = bed.view.get('user', userId)!.value
    await bed.admission.putUser({ ...user, roles: [...user.roles, { projectId, role: 'reader' }] })
    const { secret } = await bed.authenticator.loginWithPassword({ id: userId }, 'pw', { id: projectId }, '127.0.0.1')
    expect((await call('GET', '/api/v1/addresses', secret)).status).toBe(200)
    expect((await call('POST', '/api/v1/load-balancers', secret, { vips: [{ from: 'pool', poolId }] })).status).toBe(
      201,
    )
    expect((await call('POST', '/api/v1/networks', secret, { name: 'more' })).status).toBe(403)
  })

  test('watches load balancers of its project', async () => {
    const watch = await bed.app.inject({
      url: '/api/v1/load-balancers?watch=1',
      headers: { 'x-auth-token': balancer },
      payloadAsStream: true,
    })
    expect(watch.statusCode).toBe(200)
    const lines = watch.stream()
    const seen = await new Promise<string>((resolve) => lines.once('data', (data: Buffer) => resolve(data.toString())))
    lines.destroy()
    expect(seen).toContain(`"projectId":"${projectId}"`)
    expect(seen).not.toContain(foreign.loadBalancerId)
  })

  test('is not included in role reader', async () => {
    const reader = await bed.login('r', projectId, 'reader')
    expect((await call('POST', '/api/v1/load-balancers', reader.token, { vips: [] })).status).toBe(403)
    const made = await call('POST', `/identity/v3/users/${reader.userId}/application_credentials`, reader.token, {
      application_credential: { name: 'more', roles: [{ name: 'balancer' }] },
    })
    expect(made.status).toBe(403)
  })
})
