import { afterAll, beforeAll, expect, test } from 'vitest'
import { ControlPlaneProcess } from './testing/control-plane-process.ts'

// Each surface writes its answers in its own way, short or in pieces. The audit log names the created object for all.

const PASSWORD = 'a-password-for-tests'
const MEMBERS = 2_000

let controlPlane: ControlPlaneProcess
let token = ''
let poolId = ''
let subnetId = ''

beforeAll(async () => {
  controlPlane = await ControlPlaneProcess.start([`admin.password=${PASSWORD}`, 'octavia.noop=true'])
  token = (await ask('POST', '/api/v1/tokens', { userName: 'admin', password: PASSWORD, projectName: 'admin' })).token
  const ranges = [{ first: '192.0.2.10', last: '192.0.2.250' }]
  poolId = (await ask('POST', '/api/v1/address-pools', { name: 'public', cidr: '192.0.2.0/24', ranges })).id
  const network = await ask('POST', '/api/v1/networks', { name: 'private' })
  subnetId = (await ask('POST', `/api/v1/networks/${network.id}/subnets`, { name: 'members', cidr: '10.0.0.0/16' })).id
}, 60_000)
afterAll(() => controlPlane?.[Symbol.asyncDispose]())

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer it checks itself
async function ask(method: string, url: string, body?: object): Promise<any> {
  const headers = { 'content-type': 'application/json', 'x-auth-token': token, authorization: `Bearer ${token}` }
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await fetch(`${controlPlane.address}${url}`, init)
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text.slice(0, 500)}`)
  return text === '' ? null : JSON.parse(text)
}

const operationsOn = async (id: string): Promise<readonly string[]> =>
  (await ask('GET', `/api/v1/audit?object=${id}`)).items.map(
    ({ operation, object }: { operation: string; object: string }) => `${operation} ${object}`,
  )

test('an object that an Octavia client made is in the record of its creation', async () => {
  const octavia = '/load-balancer/v2.0/lbaas'
  const { loadbalancer } = await ask('POST', `${octavia}/loadbalancers`, { loadbalancer: { vip_network_id: poolId } })
  const { id } = loadbalancer
  await ask('PUT', `${octavia}/loadbalancers/${id}`, { loadbalancer: { name: 'named' } })
  const pool = { loadbalancer_id: id, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' }
  const made = (await ask('POST', `${octavia}/pools`, { pool })).pool
  const member = { address: '10.0.0.1', protocol_port: 80, subnet_id: subnetId }
  const joined = (await ask('POST', `${octavia}/pools/${made.id}/members`, { member })).member
  await ask('DELETE', `${octavia}/loadbalancers/${id}?cascade=true`)

  expect(await operationsOn(id)).toEqual([
    `DELETE ${octavia}/loadbalancers/:id loadbalancers/${id}`,
    `POST ${octavia}/pools/:id/members pools/${made.id}/members/${joined.id}`,
    `POST ${octavia}/pools pools/${made.id}`,
    `PUT ${octavia}/loadbalancers/:id loadbalancers/${id}`,
    `POST ${octavia}/loadbalancers loadbalancers/${id}`,
  ])
  expect(await operationsOn(joined.id)).toEqual([
    `POST ${octavia}/pools/:id/members pools/${made.id}/members/${joined.id}`,
  ])
})

test('a load balancer has the changes of all its parts, which Octavia clients name alone', async () => {
  const octavia = '/load-balancer/v2.0/lbaas'
  const put = async (method: 'POST' | 'PUT', at: string, name: string, body: object): Promise<string> =>
    (await ask(method, `${octavia}/${at}`, { [name]: body }))[name].id
  const lb = await put('POST', 'loadbalancers', 'loadbalancer', { vip_network_id: poolId })
  const other = await put('POST', 'loadbalancers', 'loadbalancer', { vip_network_id: poolId })
  const http = { protocol: 'HTTP', protocol_port: 80 }
  const listener = await put('POST', 'listeners', 'listener', { ...http, loadbalancer_id: lb })
  await put('POST', 'listeners', 'listener', { ...http, loadbalancer_id: other })
  await put('PUT', `listeners/${listener}`, 'listener', { name: 'named' })
  const pool = await put('POST', 'pools', 'pool', {
    listener_id: listener,
    protocol: 'HTTP',
    lb_algorithm: 'ROUND_ROBIN',
  })
  const member = { address: '10.0.0.1', protocol_port: 80, subnet_id: subnetId }
  const joined = await put('POST', `pools/${pool}/members`, 'member', member)
  await ask('PUT', `${octavia}/pools/${pool}/members`, { members: [member] })
  const check = { pool_id: pool, type: 'TCP', delay: 5, timeout: 2, max_retries: 2 }
  const monitor = await put('POST', 'healthmonitors', 'healthmonitor', check)
  const policy = await put('POST', 'l7policies', 'l7policy', { listener_id: listener, action: 'REJECT' })
  const rule = { type: 'PATH', compare_type: 'STARTS_WITH', value: '/old' }
  const ruled = await put('POST', `l7policies/${policy}/rules`, 'rule', rule)
  await ask('DELETE', `${octavia}/l7policies/${policy}`)
  await ask('DELETE', `${octavia}/healthmonitors/${monitor}`)
  await ask('DELETE', `${octavia}/pools/${pool}`)

  expect((await operationsOn(lb)).toReversed()).toEqual([
    `POST ${octavia}/loadbalancers loadbalancers/${lb}`,
    `POST ${octavia}/listeners listeners/${listener}`,
    `PUT ${octavia}/listeners/:id listeners/${listener}`,
    `POST ${octavia}/pools pools/${pool}`,
    `POST ${octavia}/pools/:id/members pools/${pool}/members/${joined}`,
    `PUT ${octavia}/pools/:id/members pools/${pool}/members`,
    `POST ${octavia}/healthmonitors healthmonitors/${monitor}`,
    `POST ${octavia}/l7policies l7policies/${policy}`,
    `POST ${octavia}/l7policies/:id/rules l7policies/${policy}/rules/${ruled}`,
    `DELETE ${octavia}/l7policies/:id l7policies/${policy}`,
    `DELETE ${octavia}/healthmonitors/:id healthmonitors/${monitor}`,
    `DELETE ${octavia}/pools/:id pools/${pool}`,
  ])
})

test('whoever tries a part of another project is not told its load balancer, nor who else changed it', async () => {
  const octavia = '/load-balancer/v2.0/lbaas'
  const { id: lb } = (await ask('POST', `${octavia}/loadbalancers`, { loadbalancer: { vip_network_id: poolId } }))
    .loadbalancer
  const listener = { loadbalancer_id: lb, protocol: 'TCP', protocol_port: 80 }
  const { id } = (await ask('POST', `${octavia}/listeners`, { listener })).listener
  const { id: projectId } = await ask('POST', '/api/v1/projects', { name: 'stranger' })
  const stranger = { name: 'stranger', password: PASSWORD }
  await ask('POST', '/api/v1/users', { ...stranger, roles: [{ projectId, role: 'member' }] })
  const login = { userName: stranger.name, password: PASSWORD, projectName: 'stranger' }
  const own = token
  try {
    token = (await ask('POST', '/api/v1/tokens', login)).token
    await expect(ask('DELETE', `${octavia}/listeners/${id}`)).rejects.toThrow(/: 403 /)
    const [tried] = (await ask('GET', `/api/v1/audit?object=${id}`)).items
    expect(tried).toMatchObject({ object: `listeners/${id}`, status: 403, objectProjectId: null })
    expect(tried).not.toHaveProperty('loadBalancerId')
    expect((await ask('GET', `/api/v1/audit?object=${lb}`)).items).toEqual([])
  } finally {
    token = own
  }
})

test('an object whose document is so long that it is answered in pieces is in the record of its creation', async () => {
  const members = Array.from({ length: MEMBERS }, (_, index) => ({
    address: `10.0.${1 + (index >> 8)}.${index & 255}`,
    port: 80,
    subnetId,
  }))
  const { id } = await ask('POST', '/api/v1/load-balancers', {
    ...{ name: 'long', vips: [{ from: 'pool', poolId }] },
    pools: [{ name: 'all', protocol: 'tcp', members }],
  })
  expect(await operationsOn(id)).toEqual([`POST /api/v1/load-balancers load-balancers/${id}`])
})
