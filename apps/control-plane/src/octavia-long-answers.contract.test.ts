import { readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { recordFault } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ControlPlaneProcess } from './testing/control-plane-process.ts'

// Nearly all that the quota of a project gives, in one load balancer whose listeners share a pool, and readers that do
// not read.

const PASSWORD = 'a-password-for-tests'
const MEMBERS = 4000
const LISTENERS = 500
/** The status tree shows the pool below each listener: hundreds of megabytes, at 160 bytes for each member. */
const TREE_BYTES_MIN = 300_000_000
/** The memory that a client may cost that does not read, with several at a time and all garbage included. */
const GROWTH_BYTES_MAX = 96 * 1024 * 1024
const READERS = 5

let controlPlane: ControlPlaneProcess
let endpoint = ''
let token = ''
let lbId = ''
let poolId = ''

beforeAll(async () => {
  controlPlane = await ControlPlaneProcess.start([`admin.password=${PASSWORD}`])
  endpoint = controlPlane.address
  token = (await post('/api/v1/tokens', { userName: 'admin', password: PASSWORD, projectName: 'admin' })).token
  const publicPool = await post('/api/v1/address-pools', {
    name: 'public',
    cidr: '192.0.2.0/24',
    ranges: [{ first: '192.0.2.10', last: '192.0.2.250' }],
  })
  const network = await post('/api/v1/networks', { name: 'private' })
  const subnet = await post(`/api/v1/networks/${network.id}/subnets`, { name: 'members', cidr: '10.0.0.0/16' })
  const member = (index: number) => ({
    address: `10.0.${1 + (index >> 8)}.${index & 255}`,
    protocol_port: 80,
    subnet_id: subnet.id,
  })
  const { loadbalancer } = await post('/load-balancer/v2/lbaas/loadbalancers', {
    loadbalancer: {
      vip_network_id: publicPool.id,
      pools: [
        {
          ...{ name: 'all', protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' },
          members: Array.from({ length: MEMBERS }, (_, index) => member(index)),
        },
      ],
      listeners: Array.from({ length: LISTENERS }, (_, index) => ({
        ...{ protocol: 'TCP', protocol_port: 1000 + index, default_pool: { name: 'all' } },
      })),
    },
  })
  lbId = loadbalancer.id
  poolId = loadbalancer.pools[0].id
  expect(loadbalancer.pools[0].members).toHaveLength(MEMBERS)
}, 120_000)

afterAll(() => controlPlane?.[Symbol.asyncDispose]())

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer it checks itself
async function post(url: string, body: object): Promise<any> {
  const headers = { 'content-type': 'application/json', 'x-auth-token': token, authorization: `Bearer ${token}` }
  const response = await fetch(`${endpoint}${url}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text.slice(0, 500)}`)
  return JSON.parse(text)
}

const open = (url: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    get(`${endpoint}/load-balancer/v2/lbaas${url}`, { agent: false, headers: { 'x-auth-token': token } }, resolve).on(
      'error',
      reject,
    )
  })

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer it checks itself
async function read(url: string): Promise<any> {
  const chunks: Buffer[] = []
  for await (const chunk of await open(url)) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString())
}

/** The resident memory now, and its highest value so far. */
function memoryBytes(): { readonly now: number; readonly most: number } {
  const status = readFileSync(`/proc/${controlPlane.pid}/status`, 'utf8')
  const of = (name: string) => 1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1])
  return { now: of('VmRSS'), most: of('VmHWM') }
}

describe('long answers of Octavia', () => {
  test('are complete: a page of members, the members of a pool, in lists and single', async () => {
    expect((await read(`/pools/${poolId}/members`)).members).toHaveLength(1000)
    expect((await read(`/pools/${poolId}`)).pool.members).toHaveLength(MEMBERS)
    expect((await read('/pools')).pools[0].members).toHaveLength(MEMBERS)
    expect((await read('/listeners')).listeners).toHaveLength(LISTENERS)
  })

  test('readers that do not read cost little memory, and others get answers', async () => {
    const before = memoryBytes().now
    const readers = await Promise.all(Array.from({ length: READERS }, () => open(`/loadbalancers/${lbId}/status`)))
    for (const reader of readers) {
      expect(reader.statusCode).toBe(200)
      reader.pause()
    }
    // An answer that is made as one text would delay these requests and fill the memory before they are answered.
    for (let time = 0; time < 20; time++) expect((await read('/pools')).pools).toHaveLength(1)
    const grownBytes = memoryBytes().most - before
    for (const reader of readers.slice(1)) reader.destroy()

    // One of the clients now reads, and gets the whole tree.
    let bytes = 0
    let tail = ''
    for await (const chunk of readers[0] ?? []) {
      bytes += (chunk as Buffer).length
      tail = (tail + (chunk as Buffer).toString()).slice(-20)
    }
    expect(bytes).toBeGreaterThan(TREE_BYTES_MIN)
    expect(tail.endsWith(']}]}]}}}')).toBe(true)
    expect(grownBytes).toBeLessThan(GROWTH_BYTES_MAX)
    expect(memoryBytes().most - before).toBeLessThan(2 * GROWTH_BYTES_MAX)
    recordFault({
      fault: 'Octavia: a status tree of hundreds of megabytes, and readers that do not read',
      outcome: 'made as it is read; others are answered',
      figure: `${READERS} readers of ${(bytes / 1e6).toFixed(0)} MB each: ${(grownBytes / 1e6).toFixed(0)} MB of memory`,
    })
  }, 180_000)
})
