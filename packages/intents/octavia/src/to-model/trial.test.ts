import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { LoadBalancerTrial } from './trial.ts'

const [lb, pool, listener, policy] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]

const LISTENER = { id: listener, loadbalancer_id: lb, protocol: 'HTTP', protocol_port: 80, default_pool_id: pool }
const RULE = { id: randomUUID(), type: 'PATH', compare_type: 'STARTS_WITH', value: '/' }

function filled(): LoadBalancerTrial {
  const trial = new LoadBalancerTrial()
  const faults = [
    trial.add('loadbalancer', { id: lb, vip_address: '192.0.2.7', vip_subnet_id: randomUUID() }, null),
    trial.add('pool', { id: pool, loadbalancer_id: lb, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' }, lb),
    trial.add('member', { id: randomUUID(), address: '10.0.0.1', protocol_port: 80 }, pool),
    trial.add(
      'healthmonitor',
      { id: randomUUID(), pool_id: pool, type: 'TCP', delay: 5, timeout: 3, max_retries: 2 },
      pool,
    ),
    trial.add('listener', LISTENER, lb),
    trial.add('l7policy', { id: policy, listener_id: listener, action: 'REJECT', rules: [RULE] }, listener),
  ]
  expect(faults).toEqual(faults.map(() => null))
  return trial
}

test.each<[string, string, object, string]>([
  ['a protocol that there is not', 'listener', { ...LISTENER, id: randomUUID(), protocol: 'QUIC' }, 'QUIC'],
  ['a port that is taken', 'listener', { ...LISTENER, id: randomUUID() }, 'protocol_port 80'],
  [
    'a pool that is not there',
    'listener',
    { ...LISTENER, id: randomUUID(), protocol_port: 81, default_pool_id: listener },
    listener,
  ],
  [
    'a second monitor',
    'healthmonitor',
    { id: randomUUID(), pool_id: pool, type: 'TCP', delay: 5, timeout: 3, max_retries: 2 },
    'already has',
  ],
  ['an id that a rule has', 'rule', RULE, RULE.id],
  [
    'an address that gets no traffic',
    'member',
    { id: randomUUID(), address: '169.254.169.254', protocol_port: 80 },
    '169.254.169.254',
  ],
])('refuses %s, as the API does', (_, kind, body, text) => {
  const parent = { rule: policy, member: pool, healthmonitor: pool }[kind] ?? lb
  expect(filled().add(kind, body as Record<string, unknown>, parent)).toContain(text)
})

test('goes on after a refusal as if the object had not been there', () => {
  const trial = filled()
  expect(
    trial.add('listener', { ...LISTENER, id: randomUUID(), protocol_port: 81, timeout_client_data: 'long' }, lb),
  ).not.toBeNull()
  expect(trial.add('listener', { ...LISTENER, id: randomUUID(), protocol_port: 81 }, lb)).toBeNull()
})
