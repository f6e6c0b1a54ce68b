import type { Attributes } from '@spout/octavia-client'
import { CheckFailed } from './result.ts'
import type { Trial } from './trial.ts'

const ALGORITHMS = ['ROUND_ROBIN', 'LEAST_CONNECTIONS', 'SOURCE_IP', 'SOURCE_IP_PORT'] as const
const PROTOCOLS = ['HTTP', 'HTTPS', 'TCP', 'UDP', 'SCTP', 'PROXY', 'PROXYV2'] as const
const PERSISTENCE: readonly Attributes[] = [
  { type: 'SOURCE_IP' },
  { type: 'HTTP_COOKIE' },
  { type: 'APP_COOKIE', cookie_name: 'basket' },
]
const usual = { delay: 10, timeout: 5, max_retries: 3, max_retries_down: 2, admin_state_up: true }
const HTTP_PROBE = { http_method: 'GET', url_path: '/ready', expected_codes: '200-204' }
const MONITORS: readonly (readonly [pool: string, fields: Attributes])[] = [
  ['HTTP', { ...usual, ...HTTP_PROBE, type: 'HTTP' }],
  ['HTTP', { ...usual, ...HTTP_PROBE, type: 'HTTPS' }],
  ['TCP', { ...usual, type: 'TCP' }],
  ['TCP', { ...usual, type: 'TLS-HELLO' }],
  ['TCP', { ...usual, type: 'PING' }],
  ['UDP', { ...usual, type: 'UDP-CONNECT' }],
]

/** Checks pools with members and monitors. It keeps what it creates for the checks of lists and deletion. */
export async function checkPools(trial: Trial, lb: string): Promise<void> {
  trial.group('pools')
  const pool = (fields: Attributes) => ({
    loadbalancer_id: lb,
    protocol: 'HTTP',
    lb_algorithm: 'ROUND_ROBIN',
    ...fields,
  })
  for (const protocol of PROTOCOLS)
    await trial.check(`protocol ${protocol}`, () =>
      trial.makeAndShow(lb, '/pools', 'pool', pool({ protocol, name: protocol })),
    )
  for (const lb_algorithm of ALGORITHMS)
    await trial.check(`algorithm ${lb_algorithm}`, () =>
      trial.makeAndShow(lb, '/pools', 'pool', pool({ lb_algorithm, name: lb_algorithm, protocol: 'TCP' })),
    )
  for (const session_persistence of PERSISTENCE)
    await trial.check(`session persistence ${String(session_persistence['type'])}`, () =>
      trial.makeAndShow(lb, '/pools', 'pool', pool({ session_persistence })),
    )
  const changed = await trial.check('is changed', async () => {
    const { id } = await trial.makeAndShow(lb, '/pools', 'pool', pool({ name: 'before', tags: ['a'] }))
    await trial.change(lb, `/pools/${id}`, 'pool', { name: 'after', lb_algorithm: 'SOURCE_IP', tags: ['b'] })
    return id
  })
  await trial.check('an unknown protocol is 400', () =>
    trial.expect(400, 'POST', '/pools', { pool: pool({ protocol: 'QUIC' }) }),
  )
  await trial.check('an unknown algorithm is 400', () =>
    trial.expect(400, 'POST', '/pools', { pool: pool({ lb_algorithm: 'BEST' }) }),
  )
  await trial.check('a cookie without a name is 400', () =>
    trial.expect(400, 'POST', '/pools', { pool: pool({ session_persistence: { type: 'APP_COOKIE' } }) }),
  )
  await checkMonitors(trial, lb)
  if (changed === null) trial.skip('members', 'there is no pool for them')
  else await checkMembers(trial, lb, changed)
}

async function checkMonitors(trial: Trial, lb: string): Promise<void> {
  trial.group('health monitors')
  let made: { readonly id: string; readonly pool: string } | null = null
  for (const [protocol, fields] of MONITORS)
    made =
      (await trial.check(`type ${String(fields['type'])}`, async () => {
        const { id: pool_id } = await trial.make('/pools', 'pool', {
          ...{ loadbalancer_id: lb, protocol, lb_algorithm: 'ROUND_ROBIN' },
        })
        await trial.settled(lb)
        const { id } = await trial.makeAndShow(lb, '/healthmonitors', 'healthmonitor', { ...fields, pool_id })
        return { id, pool: pool_id }
      })) ?? made
  if (made === null) return trial.skip('changes', 'there is no monitor')
  const { id, pool } = made
  await trial.check('is changed', () =>
    trial.change(lb, `/healthmonitors/${id}`, 'healthmonitor', { delay: 20, timeout: 7, max_retries: 5 }),
  )
  await trial.check('a second one of a pool is 409', () =>
    trial.expect(409, 'POST', '/healthmonitors', { healthmonitor: { ...usual, type: 'TCP', pool_id: pool } }),
  )
}

async function checkMembers(trial: Trial, lb: string, pool: string): Promise<void> {
  trial.group('members')
  const { memberAddress } = trial.options
  const path = `/pools/${pool}/members`
  const member = (number: number, more: Attributes = {}) => ({
    address: memberAddress(number),
    protocol_port: 80,
    ...more,
  })
  const ports = async () => {
    const found = await trial.options.client.list(path)
    return found
      .map(({ address, weight }) => `${String(address)}/${String(weight)}`)
      .sort()
      .join(' ')
  }
  const mustBe = async (...wanted: readonly string[]): Promise<void> => {
    await trial.settled(lb)
    const now = await ports()
    if (now !== wanted.toSorted().join(' '))
      throw new CheckFailed(`the pool has ${now || 'no members'}, not ${wanted.join(' ')}`)
  }
  const made = await trial.check('is made with all its attributes', () =>
    trial.makeAndShow(
      ...([lb, path, 'member'] as const),
      member(1, { name: 'one', weight: 5, backup: true, monitor_port: 8080, admin_state_up: true, tags: ['rack-1'] }),
    ),
  )
  if (made !== null) {
    await trial.check('is changed', () => trial.change(lb, `${path}/${made.id}`, 'member', { weight: 0, name: 'uno' }))
    await trial.check('a second one of an address and port is 409', () =>
      trial.expect(409, 'POST', path, { member: member(1) }),
    )
  }
  const put = async (query: string, ...members: readonly object[]) => {
    await trial.expect(202, 'PUT', `${path}${query}`, { members })
  }
  await trial.check('a whole set replaces another', async () => {
    await put('', member(1, { weight: 2 }), member(2), member(3))
    await mustBe(`${memberAddress(1)}/2`, `${memberAddress(2)}/1`, `${memberAddress(3)}/1`)
    await put('', member(2, { weight: 7 }), member(4))
    await mustBe(`${memberAddress(2)}/7`, `${memberAddress(4)}/1`)
  })
  await trial.check('additive_only removes none', async () => {
    await put('?additive_only=true', member(5))
    await mustBe(`${memberAddress(2)}/7`, `${memberAddress(4)}/1`, `${memberAddress(5)}/1`)
  })
  await trial.check('an unchanged set is 202', async () => {
    await put('', member(2, { weight: 7 }), member(4), member(5))
    await mustBe(`${memberAddress(2)}/7`, `${memberAddress(4)}/1`, `${memberAddress(5)}/1`)
  })
  await trial.check('a weight that is too large is 400', () =>
    trial.expect(400, 'POST', path, { member: member(6, { weight: 257 }) }),
  )
  await trial.check('a malformed address is 400', () =>
    trial.expect(400, 'POST', path, { member: { address: 'nowhere', protocol_port: 80 } }),
  )
}
