import path from 'node:path'
import { bundled, run, type ShownLoadBalancer, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, balancer } from './fixtures.ts'

/** What a node says that was not told where the tenant's physical network is. */
const REASON = 'no interface for physical network tenant-a'

let system: TestSystem
let acme: Tenant
let shown: ShownLoadBalancer

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME], nodes: ['node1'], agents: { set: ['segments={}'] } })
  acme = system.tenants[0]!
  const vips = [{ from: 'pool', poolId: system.publicPoolId }]
  const { id } = await system.api<ShownLoadBalancer>(acme, 'POST', '/load-balancers', {
    vips,
    ...balancer('web', 'tcp'),
  })
  shown = await waitFor(
    async () => {
      const now = await system.loadBalancer(acme, id)
      return now.status.provisioning === 'error' && now
    },
    { what: 'the load balancer to fail' },
  )
})
afterAll(() => system?.destroy())

/** What the command prints, with a line's break where the terminal would have it left out. */
const spout = (...words: string[]): Promise<string> => spoutAs(acme.token, ...words)
async function spoutAs(token: string, ...words: string[]): Promise<string> {
  const program = bundled(path.resolve(import.meta.dirname, '../apps/cli/src/main.ts'))
  const env = { SPOUT_ENDPOINT: system.access.endpoint, SPOUT_TOKEN: token }
  return (await run([process.execPath, program, ...words], { env })).stdout
}

it('the reason of a load balancer in error is on the object, for its tenant', async () => {
  expect(shown.status).toMatchObject({ provisioning: 'error', message: expect.stringContaining(REASON) })
  const { items } = await system.api<{ items: ShownLoadBalancer[] }>(acme, 'GET', '/load-balancers')
  expect(items[0]?.status.message).toContain(REASON)
})

it('`spout` says it wherever it shows the load balancer', async () => {
  expect(await spout('explain', 'lb', 'web')).toContain(REASON)
  expect(await spout('lb', 'show', 'web')).toContain(REASON)
  expect(await spout('lb', 'list', '-o', 'wide')).toContain(REASON)
  expect(await spout('lb', 'list')).toMatch(/^web .* error /m)
})

it('`spout doctor` tells the administrator what to look at, and that the group has one node', async () => {
  const text = await spoutAs(system.access.admin.token, 'doctor')
  expect(text).toMatch(
    /^error {4}load balancers: web: .*no interface for physical network tenant-a.*\n {9}spout explain lb web$/m,
  )
  expect(text).toMatch(
    /^warning {2}groups: .*: It has one connected node for its 1 address: if node1 fails, nobody takes over\.$/m,
  )
})

it('the Octavia API, which has no place for a reason, says ERROR', async () => {
  const url = `${system.access.endpoint}/load-balancer/v2/lbaas/loadbalancers/${shown.id}`
  const answer = await fetch(url, { headers: { 'x-auth-token': acme.token } })
  expect(await answer.json()).toMatchObject({ loadbalancer: { provisioning_status: 'ERROR' } })
})
