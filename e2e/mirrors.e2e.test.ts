import { readFileSync } from 'node:fs'
import { type Daemon, type ShownLoadBalancer, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, member, PORT, vipOf } from './fixtures.ts'

const MIRROR_PORT = 8081

let system: TestSystem
let acme: Tenant
let shop: ShownLoadBalancer
let mirror: Daemon

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME] })
  acme = system.tenants[0]!
  const argv = ['python3', '-u', '-m', 'http.server', String(MIRROR_PORT)]
  mirror = await system.lab.start('tenant-a-member2', 'mirror', argv, { readyText: 'Serving' })
  const action = { type: 'forward', pools: [{ pool: 'web' }], mirrors: [{ pool: 'next', percent: 100 }] }
  shop = await system.createLoadBalancer(acme, {
    name: 'shop',
    pools: [
      { name: 'web', protocol: 'http', members: [member(1, PORT.http)] },
      { name: 'next', protocol: 'http', members: [member(2, MIRROR_PORT)] },
    ],
    listeners: [{ name: 'web', protocol: 'http', port: 80, routes: [{ name: 'all', action }] }],
  })
})
afterAll(() => system?.destroy())

const get = (at: string) => system.lab.must('client', ['curl', '-sf', '--max-time', '10', `http://${vipOf(shop)}${at}`])

it('a request is answered by its pool, and its mirror gets a copy; a dead mirror changes nothing', async () => {
  expect(await get('/copied')).toContain('tenant-a-member1')
  await waitFor(() => readFileSync(mirror.logFile, 'utf8').includes('GET /copied HTTP/1.1'), { what: 'the copy' })
  await system.lab.stop(mirror)
  for (let count = 0; count < 5; count++) expect(await get(`/alone/${count}`)).toContain('tenant-a-member1')
})
