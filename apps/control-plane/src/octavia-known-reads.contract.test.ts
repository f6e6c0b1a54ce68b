import { get, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ControlPlaneProcess } from './testing/control-plane-process.ts'

// Once the text of a load balancer was made, reads are answered ahead of the routes. A path with `.json` takes the
// route.

const PASSWORD = 'a-password-for-tests'
const LBAAS = '/load-balancer/v2/lbaas/loadbalancers'

interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

let controlPlane: ControlPlaneProcess
let admin = ''
let member = ''
let stranger = ''
let id = ''

beforeAll(async () => {
  controlPlane = await ControlPlaneProcess.start([`admin.password=${PASSWORD}`])
  admin = await login('admin', PASSWORD, 'admin')
  const { id: poolId } = await post('/api/v1/address-pools', {
    name: 'public',
    cidr: '192.0.2.0/24',
    ranges: [{ first: '192.0.2.10', last: '192.0.2.250' }],
  })
  const tenant = async (name: string): Promise<string> => {
    const project = await post('/api/v1/projects', { name })
    await post('/api/v1/users', { name, password: PASSWORD, roles: [{ projectId: project.id, role: 'member' }] })
    return login(name, PASSWORD, name)
  }
  ;[member, stranger] = [await tenant('one'), await tenant('other')]
  const { loadbalancer } = await post(LBAAS, { loadbalancer: { name: 'known', vip_network_id: poolId } }, member)
  id = loadbalancer.id
})
afterAll(() => controlPlane?.[Symbol.asyncDispose]())

const login = async (userName: string, password: string, projectName: string): Promise<string> =>
  (await post('/api/v1/tokens', { userName, password, projectName })).token

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer it checks itself
async function send(method: string, url: string, body: object, token = admin): Promise<any> {
  const headers = { 'content-type': 'application/json', 'x-auth-token': token, authorization: `Bearer ${token}` }
  const response = await fetch(`${controlPlane.address}${url}`, { method, headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text.slice(0, 500)}`)
  return JSON.parse(text)
}
const post = (url: string, body: object, token?: string) => send('POST', url, body, token)

const read = (path: string, headers: OutgoingHttpHeaders): Promise<Answered> =>
  new Promise((resolve, reject) => {
    get(`${controlPlane.address}${path}`, { headers }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (piece: string) => {
        body += piece
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    }).on('error', reject)
  })

/** What differs between any two answers. */
const comparable = ({ status, headers, body }: Answered) => {
  const { date: _, 'x-openstack-request-id': requestId, ...rest } = headers
  expect(requestId).toMatch(/^req-[0-9a-f-]{36}$/)
  return { status, headers: rest, names: Object.keys(headers).sort(), body }
}

test.each([
  ['its owner', () => ({ 'x-auth-token': member }), 200],
  ['its owner with a bearer token', () => ({ authorization: `Bearer ${member}` }), 200],
  ['an administrator', () => ({ 'x-auth-token': admin, accept: 'application/json' }), 200],
  ['another project', () => ({ 'x-auth-token': stranger }), 403],
  ['who has no token', () => ({}), 401],
  ['who invents one', () => ({ 'x-auth-token': 'x'.repeat(43) }), 401],
  ['who wants no JSON', () => ({ 'x-auth-token': member, accept: 'text/html' }), 406],
] as const)('%s has the same answer by both paths', async (_, headers, status) => {
  const byRoute = await read(`${LBAAS}/${id}.json`, headers())
  const known = await read(`${LBAAS}/${id}`, headers())
  expect(comparable(known)).toEqual(comparable(byRoute))
  expect(known.status).toBe(status)
})

test('an answer is as new as the last write', async () => {
  const access = { 'x-auth-token': member }
  for (const name of ['first', 'second', 'third']) {
    await send('PUT', `${LBAAS}/${id}`, { loadbalancer: { name } }, member)
    for (const path of [`${LBAAS}/${id}`, `${LBAAS}/${id}`, `/load-balancer/v2.0/loadbalancers/${id}`])
      expect(JSON.parse((await read(path, access)).body)).toMatchObject({ loadbalancer: { id, name } })
  }
})

test('all of them are counted by their route', async () => {
  const text = await (await fetch(`http://127.0.0.1:${controlPlane.statusPort}/metrics`)).text()
  expect(text).toMatch(
    /spout_http_request_seconds_count\{method="GET",route="\/load-balancer\/v2\.0\/loadbalancers\/:id",status="200"\} 3/,
  )
})
