import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import {
  issueCertificate,
  nodesInSync,
  type PageShell,
  type ShownLoadBalancer,
  type Tenant,
  TestSystem,
  TypedPage,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, member, PORT, vipOf } from './fixtures.ts'
import { spoutShell } from './spout-shell.ts'

/** What pages that need nothing of their own say to type, typed in one lab. */

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

/** The fields of a JSON document, and those of the objects in it. */
const fieldsOf = (json: string): readonly string[] =>
  Object.entries(JSON.parse(json) as object).flatMap(([name, value]: [string, unknown]) => [
    name,
    ...(typeof value === 'object' && value !== null && !Array.isArray(value) ? fieldsOf(JSON.stringify(value)) : []),
  ])

/** A problem document without the request's id. */
const problem = (json: string): object => ({ ...(JSON.parse(json) as object), instance: '' })
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

it('native-api.md: one call writes a load balancer, refusals are problem documents, and a watch tells each change', async () => {
  const page = new TypedPage('native-api.md', asTenant)
  const login = await page.type('curl -s $SPOUT_ENDPOINT/api/v1/tokens')
  expect(fieldsOf(login.said)).toEqual(fieldsOf(login.shown))
  const { projectId } = JSON.parse(login.said) as { readonly projectId: string }

  const create = page.take('curl -si $SPOUT_ENDPOINT/api/v1/load-balancers').command
  const { stdout: made } = await asTenant(create.replace(UUID, system.publicPoolId))
  expect(made).toMatch(/^HTTP\/1\.1 201 Created\r\n/)
  expect(made).toMatch(/^etag: "1-\w+"\r$/m)
  const id = /^location: \/api\/v1\/load-balancers\/(\S+)\r$/m.exec(made)?.[1] ?? ''

  for (const refused of [
    page.take('curl -s $SPOUT_ENDPOINT/api/v1/load-balancers -H'),
    page.take('curl -s $SPOUT_ENDPOINT/api/v1/load-balancers'),
    page.take('curl -s -X PUT $SPOUT_ENDPOINT/api/v1/load-balancers/'),
  ]) {
    const { stdout } = await asTenant(refused.command.replace(UUID, id))
    expect(problem(stdout)).toEqual(problem(refused.printed.join('\n').replace(UUID, id)))
  }

  const told = await watched(page.take('curl -sN').command, id)
  const types = told.map((line) => /^\{"type":"(\w+)"/.exec(line)?.[1])
  expect([...new Set(types)].sort()).toEqual(['ADDED', 'BOOKMARK', 'DELETED', 'MODIFIED'])
  expect(told.at(-1)).toContain(`{"type":"DELETED","object":{"id":"${id}"}`)
  const forgotten = await page.type('curl -sN')
  const errorIn = (line: string) => problem(JSON.stringify((JSON.parse(line) as { readonly error: object }).error))
  expect(errorIn(forgotten.said)).toEqual(errorIn(forgotten.shown))

  // The stream goes on; its first event is all that is looked at.
  const events = page.take('curl -sN')
  const { stdout: streamed } = await asTenant(`${events.command.replace('curl', 'curl --max-time 1')} || true`)
  const hello = (text: string) => text.replaceAll('\r', '').split('\n').slice(0, 2)
  expect(hello(streamed)).toEqual(hello(events.printed.join('\n')))

  const quota = page.take('curl -s $SPOUT_ENDPOINT/api/v1/projects/')
  const { stdout } = await asTenant(`PROJECT_ID=${projectId}\n${quota.command}`)
  expect(fieldsOf(stdout)).toEqual(fieldsOf(quota.printed.join('\n')))
  expect(page.left).toEqual([])
})

/** What a watch tells of a load balancer that is changed, and then deleted. Its reader goes after that line. */
async function watched(command: string, id: string): Promise<readonly string[]> {
  const file = path.join(system.lab.directory, 'watched')
  const tells = (type: string) =>
    waitFor(() => existsSync(file) && readFileSync(file, 'utf8').includes(`"${type}"`), { what: `a line ${type}` })
  let isOver = false
  const lines = asTenant(command.replace('| cut', `| tee '${file}' | sed -u /DELETED/q | cut`)).then(({ stdout }) => {
    isOver = true
    return stdout.trim().split('\n')
  })
  await tells('BOOKMARK')
  await system.api(acme, 'PATCH', `/load-balancers/${id}`, { description: 'changed' })
  await tells('MODIFIED')
  await system.api(acme, 'DELETE', `/load-balancers/${id}`)
  // curl notices at its next line that nobody reads any more.
  for (let change = 1; !isOver; change++) {
    await system.api(acme, 'PATCH', `/load-balancers/${shop.id}`, { description: `change ${change}` })
    await system.active(acme, shop.id)
  }
  return lines
}

it('operations.md: a node joins, is drained, and gets its shards back; health; and who is locked out gets in', async () => {
  const page = new TypedPage('operations.md', asAdministrator)
  const { lab, access } = system
  const stateDirectory = path.join(lab.directory, 'control-plane')
  const typed = async (beginning: string) => {
    const { command, printed } = page.take(beginning)
    const here = command
      .replace('http://127.0.0.1:9130', access.endpoint)
      .replace('http://127.0.0.1:9134', access.statusUrl)
      .replaceAll('/var/lib/spout', stateDirectory)
    const { code, stdout, stderr } = await asAdministrator(here)
    expect({ command, code, stderr }).toMatchObject({ code: 0 })
    return { said: stdout.trim().split('\n'), shown: printed }
  }
  const firstWords = (lines: readonly string[]) => lines.map((line) => line.split(/\s+/, 1)[0])
  const token = await typed('./dev spout token create node3')
  expect(firstWords(token.said)).toEqual(firstWords(token.shown))
  for (const asked of ['curl -s http://127.0.0.1:9130/healthz', 'curl -s http://127.0.0.1:9134/readyz']) {
    const { said, shown } = await typed(asked)
    expect(said).toEqual(shown)
  }
  const metrics = await typed('curl -s http://127.0.0.1:9134/metrics')
  expect(firstWords(metrics.said)).toEqual(expect.arrayContaining(firstWords(metrics.shown)))

  expect((await typed('./dev spout node drain node2')).said).toEqual([
    expect.stringMatching(/^node2 owns nothing any more after [\d.]+ s\.$/),
  ])
  const nodes = await typed('./dev spout node list')
  expect(nodes.said[0]!.split(/\s+/)).toEqual(nodes.shown[0]!.split(/\s+/))
  const rows = nodes.said.slice(1).map((line) => line.split(/\s+/).slice(0, 4).join(' '))
  expect(rows.sort()).toEqual(['node1 connected true enabled', 'node2 connected true draining'])
  expect(await asAdministrator('spout node undrain node2')).toMatchObject({ code: 0 })
  // A node that is not in sync yet gets no shards.
  await nodesInSync(access, 2)
  const moves = (await typed('spout node-group rebalance default --dry-run')).said
  expect(moves.every((line) => /^shard \d+: node1 -> node2$/.test(line))).toBe(true)
  const { said } = await typed('spout node-group rebalance default')
  expect(said.slice(0, -1).sort()).toEqual(moves.toSorted())
  expect(said.at(-1)).toMatch(new RegExp(`^Moved ${moves.length} shards in [\\d.]+ s\\.$`))
  const again = await typed('spout node-group rebalance default')
  expect(again.said).toEqual(again.shown)

  // Where the settings give no password the control plane writes one there.
  writeFileSync(path.join(stateDirectory, 'admin-password'), access.admin.password)
  expect(JSON.parse((await typed('curl -s --unix-socket')).said.join(''))).toMatchObject({ token: expect.any(String) })
  expect((await typed('./dev in node1 ip -brief address')).said).toEqual([
    expect.stringMatching(/^fab0@\S+ +UP +198\.51\.100\.2\/24 /),
  ])
  const rules = await typed('./dev in node1 ip rule')
  expect(rules.said.map((line) => line.trim())).toEqual(rules.shown.map((line) => line.trim()))
  expect(page.left).toEqual([])
})

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
