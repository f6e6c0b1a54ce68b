import { randomUUID } from 'node:crypto'
import { Lab } from '@spout/testkit'
import { type OctaviaServer, startOctaviaServer } from '@spout/testkit/octavia-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestService } from './testing/service.ts'

// The API answers bad input with the same messages as Debian's octavia-api.
let lab: Lab
let octavia: OctaviaServer
let service: TestService
const MINUTES = 60_000
const project = randomUUID().replaceAll('-', '')

interface Reply {
  readonly status: number
  readonly body: unknown
}
type Send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', where: string, body?: object) => Promise<Reply>
/** The objects that both APIs have: a load balancer with a listener, its pool, and a policy. */
interface Have {
  readonly send: Send
  readonly subnet: string
  readonly lb: string
  readonly listener: string
  readonly pool: string
  readonly other: string
  readonly policy: string
}

const here: Send = (method, where, body) => service.call(method, where, body)
const there: Send = async (method, where, body) => {
  const response = await fetch(`${octavia.endpoint}/v2/lbaas${where}`, {
    method,
    headers: { ...octavia.as(project), 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}

async function made(send: Send, subnet: string): Promise<Have> {
  const create = async (plural: string, root: string, fields: object): Promise<string> => {
    const { status, body } = await send('POST', plural, { [root]: fields })
    expect(status, JSON.stringify(body)).toBe(201)
    if (send === there) await octavia.confirm()
    return (body as Record<string, { id: string }>)[root]!.id
  }
  const own = send === there ? { project_id: project } : {}
  const lb = await create('/loadbalancers', 'loadbalancer', { ...own, vip_subnet_id: subnet })
  const kind = { protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' }
  const listener = await create('/listeners', 'listener', { loadbalancer_id: lb, protocol: 'HTTP', protocol_port: 80 })
  const pool = await create('/pools', 'pool', { listener_id: listener, ...kind })
  const other = await create('/pools', 'pool', { loadbalancer_id: lb, ...kind })
  await create(`/pools/${pool}/members`, 'member', { address: '10.0.0.11', protocol_port: 80 })
  await create('/healthmonitors', 'healthmonitor', { pool_id: pool, type: 'TCP', delay: 5, timeout: 3, max_retries: 2 })
  const policy = await create('/l7policies', 'l7policy', {
    ...{ listener_id: listener, action: 'REDIRECT_TO_POOL', redirect_pool_id: other },
  })
  return { send, subnet, lb, listener, pool, other, policy }
}

let ours: Have
let theirs: Have
beforeAll(async () => {
  lab = await Lab.create()
  service = await TestService.start()
  octavia = await startOctaviaServer(lab, { processes: 1, isDurable: false })
  ours = await made(here, service.ids.pool)
  theirs = await made(there, randomUUID())
}, 8 * MINUTES)
afterAll(async () => {
  await service?.stop()
  await lab?.destroy()
})

const NOBODY = '00000000-0000-4000-8000-000000000000'
const monitor = { type: 'TCP', delay: 5, timeout: 3, max_retries: 2 }

const sessions =
  (protocol: string, persistence: object) =>
  ({ send, lb }: Have): Promise<Reply> =>
    send('POST', '/pools', {
      pool: {
        ...{ loadbalancer_id: lb, protocol, lb_algorithm: 'ROUND_ROBIN' },
        session_persistence: persistence,
      },
    })

const CASES: Readonly<Record<string, (have: Have) => Promise<Reply>>> = {
  'an attribute that is none': ({ send, subnet }) =>
    send('POST', '/loadbalancers', { loadbalancer: { vip_subnet_id: subnet, colour: 'red' } }),
  'an attribute that cannot change': ({ send, lb }) =>
    send('PUT', `/loadbalancers/${lb}`, { loadbalancer: { vip_address: '10.0.0.5' } }),
  'port 0': ({ send, lb }) =>
    send('POST', '/listeners', { listener: { loadbalancer_id: lb, protocol: 'HTTP', protocol_port: 0 } }),
  'a listener without a protocol': ({ send, lb }) =>
    send('POST', '/listeners', { listener: { loadbalancer_id: lb, protocol_port: 81 } }),
  'an id that is none': ({ send }) =>
    send('POST', '/listeners', { listener: { loadbalancer_id: 'x', protocol: 'HTTP', protocol_port: 81 } }),
  'a provider that is none': ({ send, subnet }) =>
    send('POST', '/loadbalancers', { loadbalancer: { vip_subnet_id: subnet, provider: 'f5' } }),
  'a load balancer that is not there': ({ send }) => send('GET', `/loadbalancers/${NOBODY}`),
  'a listener that is not there': ({ send }) => send('GET', `/listeners/${NOBODY}`),
  'a pool that is not there': ({ send }) => send('GET', `/pools/${NOBODY}`),
  'a member that is not there': ({ send, pool }) => send('GET', `/pools/${pool}/members/${NOBODY}`),
  'a monitor that is not there': ({ send }) => send('GET', `/healthmonitors/${NOBODY}`),
  'a policy that is not there': ({ send }) => send('GET', `/l7policies/${NOBODY}`),
  'a rule that is not there': ({ send, policy }) => send('GET', `/l7policies/${policy}/rules/${NOBODY}`),
  'a port that is taken': ({ send, lb }) =>
    send('POST', '/listeners', { listener: { loadbalancer_id: lb, protocol: 'HTTP', protocol_port: 80 } }),
  'a member that is there already': ({ send, pool }) =>
    send('POST', `/pools/${pool}/members`, { member: { address: '10.0.0.11', protocol_port: 80 } }),
  'a second monitor': ({ send, pool }) =>
    send('POST', '/healthmonitors', { healthmonitor: { pool_id: pool, ...monitor } }),
  'a second default pool': ({ send, listener }) =>
    send('POST', '/pools', { pool: { listener_id: listener, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' } }),
  'the pool of a policy, deleted': ({ send, other }) => send('DELETE', `/pools/${other}`),
  'a sort key that is none': ({ send }) => send('GET', '/loadbalancers?sort=colour'),
  'a time-out of sessions of a TCP pool': sessions('TCP', { type: 'SOURCE_IP', persistence_timeout: 5 }),
  'a granularity of sessions of a TCP pool': sessions('TCP', {
    ...{ type: 'SOURCE_IP', persistence_granularity: '255.255.255.0' },
  }),
  'a granularity that is no address': sessions('UDP', { type: 'SOURCE_IP', persistence_granularity: '255.255.255' }),
  'a granularity with a line break': sessions('UDP', { type: 'SOURCE_IP', persistence_granularity: '255.0.0.0\n' }),
  'a cookie beside source addresses of a UDP pool': sessions('UDP', { type: 'SOURCE_IP', cookie_name: 'c' }),
  'cookies of a UDP pool': sessions('UDP', { type: 'HTTP_COOKIE' }),
  'cookies of the application of an SCTP pool': sessions('SCTP', { type: 'APP_COOKIE', cookie_name: 'c' }),
}

/** Replaces the ids of Octavia's objects by those of the same objects here. */
const inOurIds = (reply: Reply): string =>
  Object.entries(theirs).reduce(
    (text, [name, id]) => (typeof id === 'string' ? text.replaceAll(id, String(ours[name as keyof Have])) : text),
    JSON.stringify(reply),
  )

/** octavia-api says it as plain text, later versions as another object. */
test('the same status as octavia-api for a method that a path does not take', async () => {
  for (const path of ['/loadbalancers', `/loadbalancers/${NOBODY}`]) {
    const [method, headers] = ['PATCH', { 'x-auth-token': 'member' }] as const
    const wanted = await fetch(`${octavia.endpoint}/v2/lbaas${path}`, { method, headers: octavia.as(project) })
    const url = `/load-balancer/v2/lbaas${path}`
    expect((await service.app.inject({ method, url, headers })).statusCode, path).toBe(wanted.status)
  }
})

describe('the same status and text as octavia-api', () => {
  test.each(Object.entries(CASES))('%s', async (_, ask) => {
    const wanted = JSON.parse(inOurIds(await ask(theirs))) as Reply
    expect(wanted.status).toBeGreaterThanOrEqual(400)
    expect(await ask(ours)).toMatchObject(wanted)
  })
})
