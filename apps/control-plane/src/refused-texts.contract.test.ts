import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ControlPlaneProcess } from './testing/control-plane-process.ts'

const PASSWORD = 'a-password-for-tests'

let controlPlane: ControlPlaneProcess
let token = ''

beforeAll(async () => {
  controlPlane = await ControlPlaneProcess.start([`admin.password=${PASSWORD}`])
  const login = { userName: 'admin', password: PASSWORD, projectName: 'admin' }
  token = ((await (await post('/api/v1/tokens', login)).json()) as { token: string }).token
}, 120_000)

afterAll(() => controlPlane?.[Symbol.asyncDispose]())

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${controlPlane.address}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-auth-token': token, authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  })

const long = 'x'.repeat(60_000)
const reason = 'must be at most 32768 bytes as JSON'

describe('a text that is longer than any may be is refused by every surface, in its own form', () => {
  test.each<[string, string, object, object]>([
    [
      'native',
      '/api/v1/load-balancers',
      { pools: [{ name: long }] },
      { status: 400, code: 'InvalidField', field: 'pools[0].name', detail: `Field pools[0].name: ${reason}` },
    ],
    [
      'Octavia',
      '/load-balancer/v2/lbaas/pools',
      { pool: { name: long } },
      { faultcode: 'Client', faultstring: `Validation failure: name: ${reason}` },
    ],
    [
      'Neutron',
      '/network/v2.0/networks',
      { network: { name: long } },
      { NeutronError: { type: 'HTTPBadRequest', message: `Field network.name: ${reason}` } },
    ],
    [
      'Keystone',
      '/identity/v3/projects',
      { project: { name: long } },
      { error: { code: 400, message: `Field project.name: ${reason}` } },
    ],
  ])('%s', async (_, path, body, expected) => {
    const answer = await post(path, body)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject(expected)
  })
})

describe('a name with NUL is refused by every surface, by its field', () => {
  test.each([
    ['native', '/api/v1/load-balancers', {}],
    ['Octavia', '/load-balancer/v2/lbaas/loadbalancers', { root: 'loadbalancer' }],
    ['Neutron', '/network/v2.0/networks', { root: 'network' }],
    ['Keystone', '/identity/v3/projects', { root: 'project' }],
  ] as const)('%s', async (_, path, { root = '' }: { readonly root?: string }) => {
    const named = { name: 'a\u0000b' }
    const answer = await post(path, root === '' ? named : { [root]: named })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('name: must not contain the character U+0000')
  })
})

describe('an id of 300 characters is not found, in the form of its surface', () => {
  const id = 'a'.repeat(300)
  test.each<[string, string, object]>([
    ['native', '/api/v1/load-balancers', { status: 404, code: 'NotFound' }],
    ['Octavia', '/load-balancer/v2/lbaas/loadbalancers', { faultcode: 'Client', debuginfo: null }],
    ['Octavia, of a pool', '/load-balancer/v2.0/lbaas/pools', { faultcode: 'Client', debuginfo: null }],
    ['Neutron', '/network/v2.0/networks', { NeutronError: { detail: '' } }],
    ['Keystone', '/identity/v3/projects', { error: { code: 404 } }],
  ])('%s', async (_, path, expected) => {
    const answer = await fetch(`${controlPlane.address}${path}/${id}`, { headers: { 'x-auth-token': token } })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject(expected)
  })
})

test('a method that a path of Octavia does not take is 405, with a body and without', async () => {
  for (const body of [undefined, '{"loadbalancer":{}}']) {
    const answer = await fetch(`${controlPlane.address}/load-balancer/v2/lbaas/loadbalancers`, {
      method: 'PATCH',
      headers: { 'x-auth-token': token, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST'])
    expect(await answer.json()).toEqual({ faultcode: 'Client', faultstring: 'Method Not Allowed', debuginfo: null })
  }
})
