import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import {
  issueCertificate,
  type PageShell,
  type ShownLoadBalancer,
  type Tenant,
  TestSystem,
  TypedPage,
} from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, member, PORT, vipOf } from './fixtures.ts'
import { spoutShell } from './spout-shell.ts'

/** What docs/requests.md, docs/drivers.md and docs/announcing.md say to type, typed in one lab. */

/** The first start in a checkout makes bundles. */
const START_MS = 300_000

const logs = mkdtempSync(path.join(tmpdir(), 'spout-typed-pages-'))
let system: TestSystem
let acme: Tenant
let shop: ShownLoadBalancer
let asTenant: PageShell
let asAdministrator: PageShell

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME], agents: { set: [`accessLogs.directory=${logs}`] } })
  acme = system.tenants[0]!
  asTenant = spoutShell(system, acme.token)
  asAdministrator = spoutShell(system, system.access.admin.token)
  shop = await system.createLoadBalancer(acme, {
    name: 'shop',
    pools: [{ name: 'web', protocol: 'http', members: [member(1, PORT.http)] }],
    listeners: [{ name: 'web', protocol: 'http', port: 80, defaultPool: 'web' }],
  })
}, START_MS)
afterAll(async () => {
  await system?.destroy()
  rmSync(logs, { recursive: true, force: true })
})

/** The columns of a table that are not times. */
const counts = (table: string): readonly string[] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).slice(0, 7).join(' '))

it('requests.md: durations, figures of routes and access logs are asked for, and nodes carry each', async () => {
  const page = new TypedPage('requests.md', asTenant)
  page.leaveOut('spout lb stats shop --watch', 'it goes on until it is interrupted')
  const listener = async () => {
    const { listeners } = await system.active(acme, shop.id)
    return listeners[0] as unknown as Readonly<Record<string, unknown>>
  }
  const own = `/load-balancers/${shop.id}/listeners/${shop.listeners[0]!.id}`
  await page.type('spout listener set shop web --latencies yes')
  expect(await listener()).toMatchObject({ latencies: true, routeFigures: false })
  await page.type('spout listener set shop web --latencies yes --route-figures yes')
  expect(await listener()).toMatchObject({ latencies: true, routeFigures: true })
  const forward = { type: 'forward', pools: [{ poolId: shop.pools[0]!.id, weight: 1 }] }
  for (const [name, action] of Object.entries({ asked: forward, other: { type: 'respond', code: 404 } }))
    await system.api(acme, 'POST', `${own}/routes`, {
      ...{ name, conditions: [{ on: 'path', compare: 'exact', values: [`/${name}`] }], action },
    })
  await system.active(acme, shop.id)
  for (const at of ['asked', 'asked', 'asked', 'other'])
    await system.lab.must('client', ['curl', '-s', '--max-time', '10', `http://${vipOf(shop)}/${at}`])
  const { command, printed } = page.take('spout lb stats shop --by route')
  await expect
    .poll(async () => counts((await asTenant(command)).stdout), { timeout: 20_000 })
    .toEqual(counts(printed.join('\n')))
  for (const format of ['combined', expect.stringContaining('{duration-us}'), null]) {
    await page.type('spout listener set shop web --access-log ')
    expect((await listener())['accessLog']).toEqual(format === null ? null : expect.objectContaining({ format }))
  }
  await page.type('spout listener set shop web --access-log json --access-log-to tcp')
  expect((await listener())['accessLog']).toMatchObject({ format: 'json', syslog: { address: '10.0.0.5', port: 601 } })
  await page.type('spout listener set shop web --access-log-to none')
  expect((await listener())['accessLog']).not.toHaveProperty('syslog.address')
  const sender = issueCertificate({ names: ['sender.example'] })
  const files = { 'ca.pem': issueCertificate({ isAuthority: true }), 'sender.crt': sender }
  for (const [name, { certificate }] of Object.entries(files))
    writeFileSync(path.join(system.lab.directory, name), certificate)
  writeFileSync(path.join(system.lab.directory, 'sender.key'), sender.key)
  // Another page has said how to make this one.
  const made = await asTenant('spout certificate create sender --chain sender.crt --key sender.key')
  expect(made).toMatchObject({ code: 0 })
  await page.type('spout certificate create log-ca')
  await page.type('spout listener set shop web --access-log json --access-log-to tls')
  await page.type('spout listener set shop web --access-log-to tls')
  expect((await listener())['accessLog']).toMatchObject({
    syslog: {
      port: 6514,
      transport: 'tls',
      tls: { serverName: 'logs.example', clientCertificateId: expect.any(String) },
    },
  })
  expect(page.left).toEqual([])
})

it('drivers.md: a node shows the features of its drivers', async () => {
  const page = new TypedPage('drivers.md', asAdministrator)
  const { said, shown } = await page.type('./dev spout node show node1')
  // The page leaves out the middle: its table has all of them.
  const [first, last] = shown.split('…')
  expect(said.startsWith(first!), said).toBe(true)
  expect(said.trim().endsWith(last!), said).toBe(true)
  expect(page.left).toEqual([])
})

it('announcing.md: who announces an address is shown, and a group changes to BGP', async () => {
  const page = new TypedPage('announcing.md', asAdministrator)
  const vip = vipOf(shop)
  expect((await page.type('spout vip list')).said).toMatch(new RegExp(`^${vip} `, 'm'))
  await page.type('spout vip history')
  expect((await page.type('spout explain vip')).said).toContain(vip)
  await page.type('spout node-group set default')
  await page.type('spout bgp-peer create tor1')
  expect((await page.type('spout bgp-peer list')).said).toMatch(/^tor1 +/m)
  const { items } = await system.api<{ items: readonly object[] }>(system.access.admin, 'GET', '/node-groups')
  expect(items).toMatchObject([{ announcer: 'bgp', bgp: { localAs: 64_512, policy: 'healthy' } }])
  expect(page.left).toEqual([])
})
