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
