import { Caller, type ShownLoadBalancer, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, balancer, CLIENT, vipOf } from './fixtures.ts'

const ALLOWED = '203.0.113.20'
const OTHER = CLIENT

let system: TestSystem
let client: Caller
let acme: Tenant

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME] })
  ;[acme] = system.tenants as [Tenant]
  await system.lab.must('client', ['ip', 'addr', 'add', `${ALLOWED}/24`, 'dev', 'eth0'])
  client = await Caller.start(system.lab, 'client')
})
afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
})

/** A call to one of OpenStack's APIs as the tenant. */
async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(`${system.access.endpoint}${path}`, {
    method,
    headers: { 'x-auth-token': acme.token, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  expect([method, path, answer.status < 300 ? 'ok' : text]).toEqual([method, path, 'ok'])
  return (text === '' ? undefined : JSON.parse(text)) as T
}

async function newRule(security_group_id: string, fields: object): Promise<string> {
  const rule = { security_group_id, direction: 'ingress', ...fields }
  const made = await call<{ security_group_rule: { id: string } }>('POST', '/network/v2.0/security-group-rules', {
    security_group_rule: rule,
  })
  return made.security_group_rule.id
}

const connects = async (shown: ShownLoadBalancer, protocol: 'tcp' | 'http', source: string): Promise<boolean> =>
  (await client[protocol](vipOf(shown), 80, { source, timeoutMs: 400 })).ok

it.each(['tcp', 'http'] as const)('sources connect by %s if a rule lets them in, and no longer', async (protocol) => {
  const shown = await system.createLoadBalancer(acme, balancer(`guarded-${protocol}`, protocol))
  expect(await connects(shown, protocol, OTHER)).toBe(true)
  const { security_group: group } = await call<{ security_group: { id: string } }>(
    'POST',
    '/network/v2.0/security-groups',
    { security_group: { name: protocol } },
  )
  const setGroups = (vip_sg_ids: readonly string[]) =>
    call('PUT', `/load-balancer/v2/lbaas/loadbalancers/${shown.id}`, { loadbalancer: { vip_sg_ids } })
  await setGroups([group.id])
  await system.active(acme, shown.id)
  expect(await connects(shown, protocol, ALLOWED)).toBe(false)

  const first = await newRule(group.id, {
    ...{ protocol: 'tcp', port_range_min: 80, port_range_max: 80, remote_ip_prefix: '203.0.113.20/30' },
  })
  await waitFor(() => connects(shown, protocol, ALLOWED), { what: 'the rule to let its source in' })
  expect(await connects(shown, protocol, OTHER)).toBe(false)

  // A rule for another port lets nobody in here; one for everything does.
  await newRule(group.id, { protocol: 'tcp', port_range_min: 81, port_range_max: 90 })
  await call('DELETE', `/network/v2.0/security-group-rules/${first}`)
  await waitFor(async () => !(await connects(shown, protocol, ALLOWED)), { what: 'the deleted rule to let nobody in' })
  const all = await newRule(group.id, {})
  await waitFor(() => connects(shown, protocol, OTHER), { what: 'the rule for all to let another source in' })

  await call('DELETE', `/network/v2.0/security-group-rules/${all}`)
  await waitFor(async () => !(await connects(shown, protocol, OTHER)), { what: 'nobody to be let in' })
  await setGroups([])
  await system.active(acme, shown.id)
  expect(await connects(shown, protocol, OTHER)).toBe(true)
  await call('DELETE', `/network/v2.0/security-groups/${group.id}`)
})
