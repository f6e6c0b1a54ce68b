import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { statusOf } from './testing/fixtures.ts'
import { TestService } from './testing/service.ts'

/** Unmodified openstacksdk, from Debian's package, against the API on a loopback port. */
let service: TestService
let endpoint: string

beforeAll(async () => {
  service = await TestService.start()
  // Whatever is asked to become ACTIVE is: nodes are not the matter here.
  service.status.otherwise = statusOf({ confirmedGeneration: Number.MAX_SAFE_INTEGER })
  endpoint = `${await service.app.listen({ host: '127.0.0.1', port: 0 })}/load-balancer`
})
afterAll(() => service.stop())

test('a program on openstacksdk creates, changes, reads and deletes a load balancer with its children', async () => {
  const program = new URL('testing/sdk-program.py', import.meta.url).pathname
  const { stdout } = await promisify(execFile)('/usr/bin/python3', [program, endpoint, service.ids.pool], {
    // A clean environment, without the cloud settings of the person who runs the tests.
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', no_proxy: '*' },
    timeout: 60_000,
  })
  expect(JSON.parse(stdout)).toMatchObject({
    sdk: expect.stringMatching(/^\d+\./),
    found: {
      name: 'sdk',
      description: 'the shop',
      provisioning_status: 'ACTIVE',
      vip_address: expect.stringMatching(/^192\.0\.2\./),
      vip_subnet_id: service.ids.pool,
      tags: ['blue'],
    },
    listeners: [{ name: 'http', protocol_port: 80, connection_limit: 500, allowed_cidrs: ['203.0.113.0/24'] }],
    pools: ['back'],
    members: [['one', '10.0.0.11', 7]],
    monitor: '/up',
    statistics: { total_connections: 0 },
    providers: expect.arrayContaining(['spout']),
    flavors: [],
    quota: { load_balancers: expect.any(Number) },
    refused: [501, expect.stringContaining('does not support a requested option')],
    policies: { shop: 2, closed: 1 },
    rules: ['/shop'],
    redirect: ['back'],
    left: [],
  })
})
