import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Caller, type Daemon, type ShownLoadBalancer, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, balancer, vipOf } from './fixtures.ts'

// A firewall on the router, which is a device of somebody else's: a driver in a process of its own opens it.
const SCRIPT = path.resolve(import.meta.dirname, '../packages/dataplane/src/testing/external/edge_firewall.py')

let directory: string
let system: TestSystem
let client: Caller
let acme: Tenant
let firewall: Daemon
const startFirewall = async () => {
  firewall = await system.lab.start('router', 'edge', ['python3', SCRIPT, path.join(directory, 'edge')], {
    readyText: 'ready',
  })
}
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'spt-edge-'))
  // The agents start without it.
  system = await TestSystem.start({
    tenants: [ACME],
    agents: { set: [`externalDrivers={edge: {socket: ${path.join(directory, 'edge')}}}`] },
  })
  ;[acme] = system.tenants as [Tenant]
  await startFirewall()
  client = await Caller.start(system.lab, 'client')
})
afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
  await rm(directory, { recursive: true, force: true })
})

const create = (name: string) =>
  system.api<ShownLoadBalancer>(acme, 'POST', '/load-balancers', {
    vips: [{ from: 'pool', poolId: system.publicPoolId }],
    ...balancer(name, 'http'),
  })
const when = (id: string, provisioning: 'active' | 'error') =>
  waitFor(
    async () => {
      const shown = await system.loadBalancer(acme, id)
      return shown.status.provisioning === provisioning && shown
    },
    { what: `${id} to be ${provisioning}`, timeoutMs: 60_000 },
  )
const connects = async (shown: ShownLoadBalancer) => (await client.http(vipOf(shown), 80, { timeoutMs: 1_000 })).ok
const opened = async (shown: ShownLoadBalancer) =>
  (await system.lab.must('router', ['nft', 'list', 'set', 'inet', 'edge', 'open4'])).includes(
    `${vipOf(shown)} . tcp . 80`,
  )

it('opens a load balancer before it is announced, keeps it open when its process dies, and closes it at last', async () => {
  const first = await when((await create('first')).id, 'active')
  expect(await opened(first)).toBe(true)
  expect(await connects(first)).toBe(true)

  await system.lab.stop(firewall, 'SIGKILL')
  const second = await create('second')
  const failed = await when(second.id, 'error')
  expect(failed.status.message).toMatch(/driver edge/)
  expect(`${failed.status.reason} ${failed.status.message}`).toMatch(/DriverAway/)
  expect(await opened(second)).toBe(false)
  for (const node of ['node1', 'node2']) expect(await system.boundAddresses(node)).not.toContain(vipOf(second))
  expect(await connects(first)).toBe(true)

  await startFirewall()
  await when(second.id, 'active')
  expect(await opened(second)).toBe(true)
  expect(await connects(second)).toBe(true)
  expect(await connects(first)).toBe(true)

  await system.api(acme, 'DELETE', `/load-balancers/${first.id}`)
  await waitFor(async () => !(await opened(first)), { what: 'the firewall to close' })
  expect(await opened(second)).toBe(true)
})
