import type { Attributes } from '@spout/octavia-client'
import { CheckFailed } from './result.ts'
import type { Trial } from './trial.ts'

const PROTOCOLS = ['HTTP', 'TCP', 'HTTPS', 'UDP', 'SCTP', 'PROMETHEUS'] as const
const FIRST_PORT = 8000

/** Listeners, L7 policies and rules. */
export async function checkListeners(trial: Trial, lb: string): Promise<void> {
  trial.group('listeners')
  let port = FIRST_PORT
  const listener = (fields: Attributes) => ({ loadbalancer_id: lb, protocol: 'HTTP', protocol_port: port++, ...fields })
  const make = (fields: Attributes) => trial.makeAndShow(lb, '/listeners', 'listener', listener(fields))
  for (const protocol of PROTOCOLS) await trial.check(`protocol ${protocol}`, () => make({ protocol, name: protocol }))
  await trial.check('TERMINATED_HTTPS without a certificate is 400', () =>
    trial.expect(400, 'POST', '/listeners', { listener: listener({ protocol: 'TERMINATED_HTTPS' }) }),
  )
  const full = await trial.check('has a limit, time-outs, headers, sources and tags', () =>
    make({
      ...{ name: 'full', description: 'all', connection_limit: 1000, tags: ['x'], admin_state_up: true },
      ...{ timeout_client_data: 60_000, timeout_member_connect: 4000, timeout_member_data: 70_000 },
      insert_headers: { 'X-Forwarded-For': 'true', 'X-Forwarded-Port': 'true' },
      allowed_cidrs: ['0.0.0.0/0'],
    }),
  )
  if (full === null) return trial.skip('changes, policies and rules', 'there is no listener')
  await trial.check('is changed', () =>
    trial.change(lb, `/listeners/${full.id}`, 'listener', { name: 'changed', connection_limit: 5, tags: ['y'] }),
  )
  await trial.check('null removes a limit', async () => {
    await trial.expect(200, 'PUT', `/listeners/${full.id}`, { listener: { connection_limit: null } })
    await trial.settled(lb)
    const { connection_limit: limit } = await trial.show(`/listeners/${full.id}`, 'listener')
    if (limit !== -1) await trial.change(lb, `/listeners/${full.id}`, 'listener', { connection_limit: -1 })
  })
  await trial.check('a port that is taken is 409', () =>
    trial.expect(409, 'POST', '/listeners', { listener: listener({ protocol_port: FIRST_PORT }) }),
  )
  await trial.check('a UDP listener shares the port of a TCP one', () =>
    make({ protocol: 'UDP', protocol_port: FIRST_PORT }),
  )
  await trial.check('port 0 is 400', () =>
    trial.expect(400, 'POST', '/listeners', { listener: listener({ protocol_port: 0 }) }),
  )
  await trial.check('another port of a listener is 400', () =>
    trial.expect(400, 'PUT', `/listeners/${full.id}`, { listener: { protocol_port: 9 } }),
  )
  await trial.check('has statistics', () => trial.show(`/listeners/${full.id}/stats`, 'stats'))
  const pool = await trial.check('has a default pool', async () => {
    const made = await trial.makeAndShow(lb, '/pools', 'pool', {
      ...{ listener_id: full.id, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN', name: 'default' },
    })
    const { default_pool_id: id } = await trial.show(`/listeners/${full.id}`, 'listener')
    if (id !== made.id) await trial.change(lb, `/listeners/${full.id}`, 'listener', { default_pool_id: made.id })
    return made.id
  })
  await trial.check('a default pool of another protocol is 400', async () => {
    const { id } = await trial.make('/pools', 'pool', {
      loadbalancer_id: lb,
      protocol: 'UDP',
      lb_algorithm: 'ROUND_ROBIN',
    })
    await trial.settled(lb)
    await trial.expect(400, 'PUT', `/listeners/${full.id}`, { listener: { default_pool_id: id } })
  })
  await checkPolicies(trial, lb, full.id, pool)
}

const RULES: readonly Attributes[] = [
  { type: 'HOST_NAME', compare_type: 'EQUAL_TO', value: 'shop.example.com' },
  { type: 'HOST_NAME', compare_type: 'ENDS_WITH', value: '.example.com' },
  { type: 'PATH', compare_type: 'STARTS_WITH', value: '/api' },
  { type: 'PATH', compare_type: 'CONTAINS', value: 'cart', invert: true },
  { type: 'PATH', compare_type: 'REGEX', value: '^/v[0-9]+/' },
  { type: 'FILE_TYPE', compare_type: 'EQUAL_TO', value: 'png' },
  { type: 'HEADER', compare_type: 'EQUAL_TO', key: 'X-Kind', value: 'test' },
  { type: 'COOKIE', compare_type: 'STARTS_WITH', key: 'basket', value: 'a' },
]

async function checkPolicies(trial: Trial, lb: string, listener: string, pool: string | null): Promise<void> {
  trial.group('L7 policies')
  const actions: readonly Attributes[] = [
    { action: 'REJECT' },
    { action: 'REDIRECT_TO_URL', redirect_url: 'https://www.example.com/', redirect_http_code: 301 },
    { action: 'REDIRECT_PREFIX', redirect_prefix: 'https://www.example.com' },
    ...(pool === null ? [] : [{ action: 'REDIRECT_TO_POOL', redirect_pool_id: pool }]),
  ]
  const make = (fields: Attributes) =>
    trial.makeAndShow(lb, '/l7policies', 'l7policy', {
      listener_id: listener,
      name: String(fields['action']),
      ...fields,
    })
  for (const fields of actions) await trial.check(`action ${String(fields['action'])}`, () => make(fields))
  await trial.check('a redirection without a target is 400', () =>
    trial.expect(400, 'POST', '/l7policies', { l7policy: { listener_id: listener, action: 'REDIRECT_TO_URL' } }),
  )
  const first = await trial.check('is put at position 1, and the others move', async () => {
    const { id } = await make({ action: 'REJECT', position: 1, name: 'first' })
    const all = await trial.options.client.list('/l7policies')
    const own = all.filter(({ listener_id: of }) => of === listener).map(({ position }) => Number(position))
    if (own.toSorted((a, b) => a - b).some((position, at) => position !== at + 1))
      throw new CheckFailed(`the positions are ${own.join(', ')}`)
    return id
  })
  if (pool !== null)
    await trial.check('a pool that a policy sends to is not deleted: 409', () =>
      trial.expect(409, 'DELETE', `/pools/${pool}`),
    )
  if (first === null) return trial.skip('rules', 'there is no policy')
  trial.group('L7 rules')
  const path = `/l7policies/${first}/rules`
  for (const rule of RULES)
    await trial.check(`${String(rule['type'])} ${String(rule['compare_type'])}`, () =>
      trial.makeAndShow(lb, path, 'rule', rule),
    )
  await trial.check('a header without a name is 400', () =>
    trial.expect(400, 'POST', path, { rule: { type: 'HEADER', compare_type: 'EQUAL_TO', value: 'x' } }),
  )
  await trial.check('a broken regular expression is 400', () =>
    trial.expect(400, 'POST', path, { rule: { type: 'PATH', compare_type: 'REGEX', value: '(' } }),
  )
}
