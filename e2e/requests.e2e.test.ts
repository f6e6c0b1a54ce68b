import path from 'node:path'
import { bundled, run, type ShownLoadBalancer, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, member, PORT, vipOf } from './fixtures.ts'

let system: TestSystem
let acme: Tenant
let shop: ShownLoadBalancer

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME] })
  acme = system.tenants[0]!
  shop = await system.createLoadBalancer(acme, {
    name: 'shop',
    pools: [{ name: 'web', protocol: 'http', members: [member(1, PORT.http)] }],
    listeners: [
      { name: 'timed', protocol: 'http', port: 80, defaultPool: 'web', latencies: true },
      { name: 'plain', protocol: 'http', port: 81, defaultPool: 'web' },
      { name: 'figures', protocol: 'metrics', port: 9100 },
      { name: 'routed', protocol: 'http', port: 82, defaultPool: 'web' },
    ],
  })
})
afterAll(() => system?.destroy())

const get = (of: ShownLoadBalancer, port: number, at: string) =>
  system.lab.must('client', ['curl', '-sf', '--max-time', '10', `http://${vipOf(of)}:${port}${at}`])

it('the time that requests take is told as histograms, by listener and pool, of those that want it', async () => {
  for (let count = 0; count < 5; count++) for (const port of [80, 81]) await get(shop, port, '/')
  const [timed, plain] = shop.listeners.map(({ id }) => id)
  const text = await waitFor(
    async () => {
      const figures = await get(shop, 9100, '/metrics')
      return figures.includes(`spout_listener_request_duration_seconds_count{listener="${timed}"} 5\n`) && figures
    },
    { what: 'the durations of 5 requests' },
  )
  expect(text).toContain(`spout_listener_request_duration_seconds_bucket{listener="${timed}",le="+Inf"} 5\n`)
  expect(text).toContain(`spout_pool_request_duration_seconds_count{pool="${shop.pools[0]!.id}"} 5\n`)
  expect(text).not.toContain(`spout_listener_request_duration_seconds_count{listener="${plain}"}`)
})

it('a listener that asks for it has them by route, with the responses, of routes that had requests', async () => {
  const place = `/load-balancers/${shop.id}/listeners/${shop.listeners[3]!.id}`
  const refused = system.api(acme, 'PATCH', place, { routeFigures: true })
  await expect(refused).rejects.toThrow(/routeFigures.*latencies/)
  await system.api(acme, 'PATCH', place, { latencies: true, routeFigures: true })
  const add = (at: string, action: object) =>
    system.api<{ id: string }>(acme, 'POST', `${place}/routes`, {
      conditions: [{ on: 'path', compare: 'exact', values: [at] }],
      action,
    })
  const asked = await add('/asked', { type: 'forward', pools: [{ poolId: shop.pools[0]!.id, weight: 1 }] })
  const refusing = await add('/refused', { type: 'respond', code: 403 })
  const idle = await add('/idle', { type: 'respond', code: 404 })
  await system.active(acme, shop.id)
  for (let count = 0; count < 3; count++) await get(shop, 82, '/asked')
  await expect(get(shop, 82, '/refused')).rejects.toThrow()
  await get(shop, 82, '/by-none')
  const labels = (route: string) => `listener="${shop.listeners[3]!.id}",route="${route}"`
  const text = await waitFor(
    async () => {
      const figures = await get(shop, 9100, '/metrics')
      return figures.includes(`spout_route_http_responses_total{${labels(refusing.id)},code="4xx"} 1\n`) && figures
    },
    { what: 'the response of the second route' },
  )
  expect(text).toContain(`spout_route_http_responses_total{${labels(asked.id)},code="2xx"} 3\n`)
  expect(text).toContain(`spout_route_request_duration_seconds_count{${labels(asked.id)}} 3\n`)
  expect(text).not.toContain(idle.id)
})

it('quantiles are columns of `spout lb stats`', async () => {
  const program = bundled(path.resolve(import.meta.dirname, '../apps/cli/src/main.ts'))
  const env = { SPOUT_ENDPOINT: system.access.endpoint, SPOUT_TOKEN: acme.token }
  const table = async () => (await run([process.execPath, program, 'lb', 'stats', 'shop'], { env })).stdout.split('\n')
  const rows = await waitFor(
    async () => {
      const lines = await table()
      return lines[0]?.includes('P99') && lines
    },
    { what: 'the counters of the node', timeoutMs: 30_000 },
  )
  expect(rows[0]).toMatch(/P50 +P99$/)
  expect(rows.find((row) => row.startsWith('timed'))).toMatch(/\d (us|ms|s) +[\d.]+ (us|ms|s)$/)
  expect(rows.find((row) => row.startsWith('plain'))).toMatch(/- +-$/)
})

it('`spout lb stats --by` tells requests by pool and by route, and how to have them counted', async () => {
  const program = path.resolve(import.meta.dirname, '../apps/cli/src/main.ts')
  const env = { SPOUT_ENDPOINT: system.access.endpoint, SPOUT_TOKEN: acme.token }
  const spout = (...words: string[]) => run([process.execPath, program, ...words], { env })
  interface Printed {
    readonly name: string
    readonly counts: { readonly requests: number; readonly responses: Readonly<Record<string, number>> }
  }
  const by = async (part: string) =>
    JSON.parse((await spout('lb', 'stats', 'shop', '--by', part, '-o', 'json')).stdout) as readonly Printed[]
  const routes = await waitFor(async () => (await by('route')).length === 2 && by('route'), {
    what: 'the counters of the node',
    timeoutMs: 30_000,
  })
  expect(routes.map(({ counts }) => [counts.requests, counts.responses['2xx'], counts.responses['4xx']])).toEqual([
    [3, 3, 0],
    [1, 0, 1],
  ])
  const [pool] = await by('pool')
  expect(pool).toMatchObject({ name: shop.pools[0]!.name || shop.pools[0]!.id })
  expect(pool!.counts.requests).toBeGreaterThanOrEqual(8)
  const top = await spout('top', '--once', '--every', '1', '--by', 'route')
  expect(top.stdout.split('\n')[0]).toMatch(/^LOAD BALANCER +LISTENER +ROUTE +REQUESTS\/S +ERRORS\/S +P50 +P99$/)
  await system.createLoadBalancer(acme, { name: 'quiet', pools: [], listeners: [] })
  const refused = await spout('lb', 'stats', 'quiet', '--by', 'pool')
  expect(refused.stderr).toContain('spout listener set quiet LISTENER --latencies yes')
})
