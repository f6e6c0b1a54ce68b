import { afterAll, beforeAll, expect, test } from 'vitest'
import { amphoraRoutes } from './routes/amphorae.ts'
import { catalogueRoutes } from './routes/catalogue.ts'
import { monitorRoutes } from './routes/health-monitors.ts'
import { policyRoutes } from './routes/l7policies.ts'
import { listenerRoutes } from './routes/listeners.ts'
import { loadBalancerRoutes } from './routes/load-balancers.ts'
import { memberRoutes } from './routes/members.ts'
import { poolRoutes } from './routes/pools.ts'
import { quotaRoutes } from './routes/quotas.ts'
import { TestService } from './testing/service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

const ABSENT = '6f1c3b1e-6a4e-4c56-9f0b-000000000009'
const OWN = [
  policyRoutes,
  loadBalancerRoutes,
  listenerRoutes,
  poolRoutes,
  memberRoutes,
  monitorRoutes,
  quotaRoutes,
  catalogueRoutes,
]
const EVERY = [
  ...OWN.flat().map(({ method, path }) => [method, `/v2${path}`] as const),
  ...amphoraRoutes.map(({ method, path }) => [method, `/v2/octavia${path}`] as const),
]

test.each(EVERY)('%s %s refuses a token that may only balance in the native API', async (method, path) => {
  const url = path.replaceAll(/:\w+/g, ABSENT)
  const reply = await service.call(method, url, method === 'GET' || method === 'DELETE' ? undefined : {}, 'balancer')
  expect(reply.status).toBe(403)
})
