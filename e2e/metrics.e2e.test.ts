import path from 'node:path'
import { bundled, run, type ShownLoadBalancer, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, member, PORT, vipOf } from './fixtures.ts'

let system: TestSystem
let acme: Tenant
let shop: ShownLoadBalancer
let blog: ShownLoadBalancer

const CLIENTS = '203.0.113.0/24'

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME] })
  acme = system.tenants[0]!
  const web = { protocol: 'http', port: 80, defaultPool: 'web' }
  const figures = { name: 'figures', protocol: 'metrics', port: 9100, allowedCidrs: [CLIENTS] }
  const make = (name: string, index: 1 | 2) =>
    system.createLoadBalancer(acme, {
      name,
      pools: [
        { name: 'web', protocol: 'http', members: [member(index, PORT.http)] },
        { name: 'echo', protocol: 'tcp', members: [member(index, PORT.tcp)] },
      ],
      listeners: [web, { protocol: 'tcp', port: 7, defaultPool: 'echo' }, figures],
    })
  shop = await make('shop', 1)
  blog = await make('blog', 2)
})
afterAll(() => system?.destroy())

/** How long an answer is waited for that is not to come. */
const SILENCE_S = 3

const get = (of: ShownLoadBalancer, port: number, path: string, seconds = 10) =>
  system.lab.must('client', ['curl', '-sf', '--max-time', `${seconds}`, `http://${vipOf(of)}:${port}${path}`])

/** The value of a figure; undefined for one that is not told. */
const valueIn = (text: string, figure: string): number | undefined => {
  const line = text.split('\n').find((one) => one.startsWith(`${figure} `))
  return line === undefined ? undefined : Number(line.slice(figure.length + 1))
}

it('tells the figures of its own load balancer, those of the packet path too', async () => {
  for (let count = 0; count < 5; count++) await get(shop, 80, '/')
  await get(blog, 80, '/')
  const [web, echo, metrics] = shop.listeners.map(({ id }) => id)
  const [pool] = shop.pools
  const of = (text: string, name: string, more = '') =>
    valueIn(text, `octavia_listener_${name}{listener="${web}"${more}}`)
  const text = await get(shop, 9100, '/metrics')
  expect(of(text, 'http_requests_total')).toBe(5)
  expect(of(text, 'http_responses_total', ',code="2xx"')).toBe(5)
  expect(of(text, 'bytes_out_total')).toBeGreaterThan(0)
  expect(valueIn(text, `octavia_pool_http_responses_total{pool="${pool!.id}",code="2xx"}`)).toBe(5)
  const memberId = pool!.members[0]!.id
  expect(valueIn(text, `octavia_member_status{pool="${pool!.id}",member="${memberId}"}`)).toBe(1)
  expect(valueIn(text, `octavia_listener_status{listener="${echo}"}`)).toBe(1)
  expect(valueIn(text, `octavia_listener_status{listener="${metrics}"}`)).toBe(1)
  for (const { id } of [...blog.listeners, ...blog.pools]) expect(text).not.toContain(id)
})

it('answers clients of its allowed ranges alone', async () => {
  const { id } = shop.listeners[2]!
  const place = `/load-balancers/${shop.id}/listeners/${id}`
  const reaches = () => get(shop, 9100, '/metrics').then(Boolean, () => false)
  await system.api(acme, 'PATCH', place, { allowedCidrs: ['192.0.2.0/24'] })
  await system.active(acme, shop.id)
  // Whoever is not let in gets no answer.
  await expect(get(shop, 9100, '/metrics', SILENCE_S)).rejects.toThrow('exit 28')
  await system.api(acme, 'PATCH', place, { allowedCidrs: [CLIENTS] })
  await system.active(acme, shop.id)
  await waitFor(reaches, { what: 'figures' })
})

it('has no pool, and its load balancer serves without one', async () => {
  const shown = await system.api<ShownLoadBalancer>(acme, 'GET', `/load-balancers/${shop.id}`)
  expect(shown).toMatchObject({ status: { serving: { state: 'yes' } } })
  const place = `/load-balancers/${shop.id}/listeners/${shop.listeners[2]!.id}`
  const refused = system.api(acme, 'PATCH', place, { defaultPool: 'web' })
  await expect(refused).rejects.toThrow(/Field defaultPoolId: a listener of protocol metrics cannot use pool/)
})

/** The `spout` command of the tenant, with JSON output. */
async function spout<T>(...words: readonly string[]): Promise<T> {
  const program = bundled(path.resolve(import.meta.dirname, '../apps/cli/src/main.ts'))
  const env = { SPOUT_ENDPOINT: system.access.endpoint, SPOUT_TOKEN: acme.token }
  const { stdout, stderr, code } = await run([process.execPath, program, ...words, '-o', 'json'], { env })
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as T
}

interface Printed {
  readonly name: string
  readonly counts: { readonly requests: number; readonly responses: Readonly<Record<string, number>> }
}

it('is counted for `spout lb stats`, responses by their status', async () => {
  const web = async () => (await spout<Printed[]>('lb', 'stats', 'shop'))[0]!
  await waitFor(async () => (await web()).counts.requests >= 5, { what: 'the counters of the node', timeoutMs: 30_000 })
  const { counts } = await web()
  expect(counts.responses).toEqual({ '1xx': 0, '2xx': counts.requests, '3xx': 0, '4xx': 0, '5xx': 0 })
})

it('is shown by `spout top` as rates, the busiest first', async () => {
  let ended = false
  const table = spout<Printed[]>('top', '--once', '--every', '12').finally(() => {
    ended = true
  })
  while (!ended) await get(blog, 80, '/')
  const [first, second] = await table
  expect(first).toMatchObject({ name: 'blog', serving: 'yes' })
  expect(first!.counts.requests).toBeGreaterThan(0)
  expect(second).toMatchObject({ name: 'shop' })
})
