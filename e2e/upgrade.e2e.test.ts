import { readFileSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  askOn,
  bundled,
  Caller,
  checkoutOf,
  type HeldConnection,
  hasCommit,
  LONGEST_CHECKOUT_MS,
  msSince,
  nodesInSync,
  type Outcome,
  PRODUCT_ENVIRONMENT,
  recordFault,
  run,
  type ShownLoadBalancer,
  startAgent,
  type Tenant,
  TestSystem,
  THIS_CHECKOUT,
  TypedPage,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ACME, BOLT, balancer, member, PORT, quickCheck, vipOf } from './fixtures.ts'
import { Clients } from './kept-alive.ts'
import { agentOf } from './node-processes.ts'
import { PREVIOUS, replaceControlPlane } from './previous-version.ts'
import { dropAll, expectAlive, holdSome } from './traffic.ts'

const NODES = ['node1', 'node2'] as const
const SET = ['nodes.announcer=vrrp', 'liveness.moveAfterMs=600000']

type Part = 'control-plane' | (typeof NODES)[number]

let previous = ''
let system: TestSystem
let client: Caller
let clients: Clients
let acme: Tenant
let bolt: Tenant
/** `shop` is balanced in the kernel, `blog` by a proxy; the previous version made both. */
let shop: ShownLoadBalancer
let blog: ShownLoadBalancer

const hasPrevious = await hasCommit(PREVIOUS)

beforeAll(async () => {
  if (!hasPrevious) return
  previous = await checkoutOf(PREVIOUS)
  system = await TestSystem.start({ tenants: [ACME, BOLT], set: SET, checkout: previous })
  ;[acme, bolt] = system.tenants as [Tenant, Tenant]
  // A busy machine that misses adverts causes moves that have nothing to do with versions.
  const { items } = await system.api<{ items: { id: string }[] }>(system.access.admin, 'GET', '/node-groups')
  for (const { id } of items)
    await system.api(system.access.admin, 'PATCH', `/node-groups/${id}`, { vrrp: { profile: 'relaxed' } })
  shop = await system.createLoadBalancer(acme, balancer('shop', 'tcp', { pool: { monitor: quickCheck('tcp') } }))
  blog = await system.createLoadBalancer(bolt, balancer('blog', 'http', { pool: { monitor: quickCheck('http') } }))
  client = await Caller.start(system.lab, 'client')
  await waitFor(async () => (await client.tcp(vipOf(shop), 80)).ok, { what: 'shop to answer' })
  await waitFor(async () => (await client.http(vipOf(blog))).ok, { what: 'blog to answer' })
  clients = new Clients(system, vipOf(blog))
}, LONGEST_CHECKOUT_MS)

afterAll(async () => {
  await clients?.[Symbol.asyncDispose]()
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
})

beforeEach(({ skip }) => {
  skip(!hasPrevious, `the git history here does not go back to ${PREVIOUS}`)
})

/** Stops one part of the system as systemd does, and starts it from another checkout. */
async function replace(part: Part, checkout: string): Promise<void> {
  const { lab, access } = system
  if (part === 'control-plane') {
    await replaceControlPlane(system, { set: SET, checkout })
    await nodesInSync(access, NODES.length)
    return
  }
  await lab.stop(agentOf(lab, part))
  const startedAt = Date.now()
  await startAgent(lab, access, part, { checkout })
  await system.inSyncAfter(part, startedAt)
}

const CHANGED = [
  { who: () => acme, shown: () => shop, protocol: 'tcp', ask: (port: number) => client.tcp(vipOf(shop), port) },
  { who: () => bolt, shown: () => blog, protocol: 'http', ask: (port: number) => client.http(vipOf(blog), port) },
] as const
let port = 1000

/** Adds a listener and changes a member's weight in each load balancer; clients reach the listener. */
async function changeWorks(): Promise<void> {
  for (const { who, shown, protocol, ask } of CHANGED) {
    port++
    const { id, pools } = shown()
    const defaultPoolId = pools[0]?.id
    const own = `/load-balancers/${id}`
    await system.api(who(), 'POST', `${own}/listeners`, { name: `l${port}`, protocol, port, defaultPoolId })
    const members = [member(1, PORT[protocol], { weight: 1 + (port % 100) }), member(2, PORT[protocol])]
    await system.api(who(), 'PUT', `${own}/pools/${defaultPoolId}/members`, { members })
    await system.active(who(), id)
    await waitFor(async () => (await ask(port)).ok, { what: `${vipOf(shown())} to answer at port ${port}` })
  }
}

type Document = { readonly id: string } & Readonly<Record<string, unknown>>
const LISTS = ['load-balancers', 'networks', 'addresses', 'node-groups', 'address-pools', 'projects', 'users'] as const

/** Stored objects as the API returns them, without the nodes' reports. */
async function stored(): Promise<Readonly<Record<string, readonly Document[]>>> {
  const lists = await Promise.all(
    LISTS.map(async (name) => {
      const { items } = await system.api<{ items: Document[] }>(system.access.admin, 'GET', `/${name}`)
      return [name, items.map(({ status: _, ...document }) => document)] as const
    }),
  )
  return Object.fromEntries(lists)
}

/** Runs all client traffic during `body`, and reports failures at its end. */
async function withTraffic<T>(body: () => Promise<T>): Promise<{ readonly value: T; readonly asked: number }> {
  await clients.tell()
  const held: readonly HeldConnection[] = await holdSome(client, shop, 20)
  const streams = [
    askOn<unknown>(() => client.tcp(vipOf(shop), 80)),
    askOn<unknown>(async () => {
      const outcome = await client.http(vipOf(blog))
      return outcome.ok && outcome.value.status !== 200 ? { ok: false, code: String(outcome.value.status) } : outcome
    }),
  ]
  const stop = async (): Promise<readonly Outcome<unknown>[]> =>
    (await Promise.all(streams.map((stream) => stream.stop()))).flat()
  let value: T
  try {
    value = await body()
  } catch (error) {
    await stop()
    throw error
  }
  const outcomes = await stop()
  const kept = await clients.tell()
  expect(outcomes.filter((outcome) => !outcome.ok)).toEqual([])
  expect(kept.failures).toEqual([])
  expect(kept.asked).toBeGreaterThan(0)
  await expectAlive(held)
  await dropAll(held)
  return { value, asked: outcomes.length + kept.asked }
}

const CLI = bundled(path.resolve(import.meta.dirname, '../apps/cli/src/main.ts'))
const cliEnvironment = () => ({
  ...PRODUCT_ENVIRONMENT,
  ...{ SPOUT_ENDPOINT: system.access.endpoint, SPOUT_TOKEN: system.access.admin.token, NO_COLOR: '1' },
})

/** What `spout upgrade --check` of this version says of every part: `current` or, of the version before, `unknown`. */
async function standings(): Promise<Readonly<Record<string, string>>> {
  const { endpoint } = system.access
  const argv = [process.execPath, CLI, 'upgrade', '--check', '-o', 'json']
  const { code, stdout } = await run(argv, { env: cliEnvironment() })
  const { state, parts } = JSON.parse(stdout) as { state: string; parts: { name: string; standing: string }[] }
  expect([state, code]).toEqual(parts.every(({ standing }) => standing === 'current') ? ['current', 0] : ['blocked', 1])
  return Object.fromEntries(parts.map(({ name, standing }) => [name === endpoint ? 'control-plane' : name, standing]))
}

/** An agent of this version says so to a control plane of this version alone. */
async function versionsAreShown(upgraded: ReadonlySet<Part>): Promise<void> {
  const knows = upgraded.has('control-plane')
  const expected = Object.fromEntries(
    (['control-plane', ...NODES] as const).map((part) => [part, knows && upgraded.has(part) ? 'current' : 'unknown']),
  )
  const what = `spout upgrade --check to show ${JSON.stringify(expected)}`
  await waitFor(async () => isDeepStrictEqual(await standings(), expected), { what })
}

/** What docs/upgrading.md shows of an installation whose parts are all of this version. */
async function pageIsRight(): Promise<void> {
  const page = new TypedPage('upgrading.md', (command) =>
    run(['bash', '-c', command.replace('spout', `'${process.execPath}' '${CLI}'`)], { env: cliEnvironment() }),
  )
  const { said, shown } = await page.type('spout upgrade --check')
  expect(page.left).toEqual([])
  const version = /[0-9]+\.[0-9]+\.[0-9]+(?:-[\w.]+)?(?![.\w])/g
  const own = (text: string) =>
    text
      .replaceAll(/http:\S+/g, 'URL')
      .replaceAll(version, 'VERSION')
      .replaceAll(/ {2,}/g, '  ')
      .trim()
  expect(own(said)).toBe(own(shown))
}

/** Log lines of all processes of Spout since the start that report unreadable data or a bug of ours. */
const complaints = (): readonly string[] =>
  ['control-plane', ...NODES.map((node) => `agent-${node}`)].flatMap((name) =>
    readFileSync(path.join(system.lab.directory, `${name}.log`), 'utf8')
      .split('\n')
      .filter((line) => /"event":"(object-invalid|entry-failed|report-out-of-scope)"|"bug":true/.test(line)),
  )

describe('F24: an upgrade and the way back, under load', () => {
  const agentsFirst: readonly Part[] = [...NODES, 'control-plane']
  const controlPlaneFirst: readonly Part[] = ['control-plane', ...NODES]

  it.each([
    { order: 'the control plane first, and back the agents first', up: controlPlaneFirst, down: agentsFirst },
    { order: 'the agents first, and back the control plane first', up: agentsFirst, down: controlPlaneFirst },
  ])('$order: every mixture works, and nothing that was written is lost', async ({ order, up, down }) => {
    const began = performance.now()
    const { value: changes, asked } = await withTraffic(async () => {
      let done = 0
      const upgraded = new Set<Part>()
      for (const [parts, checkout] of [[up, THIS_CHECKOUT] as const, [down, previous] as const])
        for (const part of parts) {
          const before = await stored()
          await replace(part, checkout)
          if (checkout === THIS_CHECKOUT) upgraded.add(part)
          else upgraded.delete(part)
          await versionsAreShown(upgraded)
          const after = await stored()
          // A later version may show more fields, never fewer, and never another value.
          const [older, newer] = checkout === THIS_CHECKOUT ? [before, after] : [after, before]
          expect(newer).toMatchObject(older)
          if (upgraded.size === parts.length) await pageIsRight()
          await changeWorks()
          done++
        }
      return done
    })
    expect(complaints()).toEqual([])
    recordFault({
      fault: 'upgrade: to this version and back to the one before, under load (F24)',
      outcome: `${order}: a change works at every step, all objects are read on`,
      figure: `0 of ${asked} requests failed, 20 connections stayed, ${changes} replaced processes in ${msSince(began)}`,
    })
  })
})
