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
    `PUT ${octavia}/loadbalancers/:id loadbalancers/${id}`,
    `POST ${octavia}/loadbalancers loadbalancers/${id}`,
  ])
  expect(await operationsOn(joined.id)).toEqual([
    `POST ${octavia}/pools/:id/members pools/${made.id}/members/${joined.id}`,
  ])
})

test('so is one whose document is so long that it is answered in pieces', async () => {
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
