import { PORT } from '../fixtures.ts'
import { type Bad, FORBIDDEN_MEMBERS, type Known, NOBODY, oddIds } from './refusal.ts'

type Answered = Omit<Bad, 'what'>
type Says = readonly (string | RegExp)[]

const listener = (more: object, status: number, ...says: Says): Answered => ({
  path: () => '/listeners',
  body: ({ own }) => ({ listener: { protocol: 'TCP', protocol_port: 8080, loadbalancer_id: own.id, ...more } }),
  status,
  says: ['faultstring', ...says],
})
const memberOf = (more: object, status: number, ...says: Says): Answered => ({
  path: ({ own }) => `/pools/${own.pools[0]?.id}/members`,
  body: () => ({ member: { address: '10.0.0.30', protocol_port: 80, ...more } }),
  status,
  says: ['faultstring', ...says],
})
const balancerOf = (more: (known: Known) => object, status: number, ...says: Says): Answered => ({
  path: () => '/loadbalancers',
  body: (known) => ({ loadbalancer: { name: 'bad', vip_network_id: known.pool, ...more(known) } }),
  status,
  says: ['faultstring', ...says],
})

const monitorOf = (more: object, status: number, ...says: Says): Answered => ({
  path: () => '/healthmonitors',
  body: ({ own }) => ({
    healthmonitor: { pool_id: own.pools[0]?.id, delay: 1, timeout: 1, max_retries: 1, ...more },
  }),
  status,
  says: ['faultstring', ...says],
})

export const OCTAVIA: readonly Bad[] = [
  ...oddIds('/loadbalancers', ['faultcode', 'faultstring', 'not found']),
  { what: 'an unknown field', ...listener({ colour: 'red' }, 400, 'colour') },
  { what: 'a wrong type', ...listener({ protocol_port: 'eighty' }, 400, 'protocol_port') },
  { what: 'a port out of range', ...listener({ protocol_port: 70000 }, 400, 'protocol_port') },
  { what: 'an unknown protocol', ...listener({ protocol: 'GOPHER' }, 400, 'protocol') },
  { what: 'a port that is taken', ...listener({ protocol_port: 80 }, 409, 'already using', '80') },
  {
    what: 'a field missing',
    path: () => '/listeners',
    body: (known) => ({ listener: { protocol: 'TCP', loadbalancer_id: known.own.id } }),
    status: 400,
    says: ['protocol_port', 'Mandatory'],
  },
  {
    what: "a listener on the other tenant's load balancer",
    path: () => '/listeners',
    body: (known) => ({ listener: { protocol: 'TCP', protocol_port: 81, loadbalancer_id: known.foreign.id } }),
    status: 403,
    says: ['Policy does not allow'],
  },
  {
    what: "a member in the other tenant's pool",
    path: (known) => `/pools/${known.foreign.pools[0]?.id}/members`,
    body: () => ({ member: { address: '10.0.0.30', protocol_port: 80 } }),
    status: 403,
    says: ['Policy does not allow'],
  },
  { what: 'a member outside of the networks', ...memberOf({ address: '10.9.9.9' }, 400, 'address', '10.9.9.9') },
  ...FORBIDDEN_MEMBERS.map(([address]) => ({
    what: `a member at ${address}`,
    ...memberOf({ address }, 400, /address/),
  })),
  { what: 'a path for a TLS hello', ...monitorOf({ type: 'TLS-HELLO', url_path: '/x' }, 400, 'url_path', 'TLS-HELLO') },
  { what: 'a bad path over TLS', ...monitorOf({ type: 'HTTPS', url_path: 'x' }, 400, 'url_path') },
  { what: 'SCTP asked of a TCP service', ...monitorOf({ type: 'SCTP' }, 400, 'SCTP type', 'UDP/SCTP') },
  { what: 'a weight out of range', ...memberOf({ weight: 257 }, 400, 'weight') },
  { what: 'a member twice', ...memberOf({ address: '10.0.0.11', protocol_port: PORT.tcp }, 409, 'already using') },
  {
    what: 'an address pool that is full',
    ...balancerOf((known) => ({ vip_network_id: known.fullPool }), 409, 'No more IP addresses'),
  },
  {
    what: 'an address outside of the pool',
    ...balancerOf(() => ({ vip_address: '203.0.113.9' }), 400, '203.0.113.9'),
  },
  {
    what: 'an address that is taken',
    ...balancerOf(
      (known) => ({ vip_network_id: known.fullPool, vip_address: '192.0.2.11' }),
      409,
      '192.0.2.11',
      'in use',
    ),
  },
  { what: 'a network that is not there', ...balancerOf(() => ({ vip_network_id: NOBODY }), 400, NOBODY) },
  {
    what: "the other tenant's subnet",
    ...balancerOf((known) => ({ vip_network_id: undefined, vip_subnet_id: known.bolt.subnetId }), 400, 'ubnet'),
  },
  {
    what: 'broken JSON',
    path: () => '/loadbalancers',
    body: () => '{"loadbalancer": {',
    status: 400,
    says: ['faultstring'],
  },
  {
    what: 'a body too large',
    path: () => '/healthmonitors',
    body: () => `{"healthmonitor":{"name":"${'x'.repeat(120_000)}"}}`,
    status: 413,
    says: ['114688'],
  },
  {
    what: 'a token nobody gave',
    method: 'GET',
    path: () => '/loadbalancers',
    token: () => 'nobody',
    status: 401,
    says: ['authenti'],
  },
  {
    what: 'a token that expired',
    method: 'GET',
    path: () => '/loadbalancers',
    token: (known) => known.expiredToken,
    status: 401,
    says: ['authenti'],
  },
  {
    what: "the other tenant's load balancer",
    method: 'GET',
    path: (known) => `/loadbalancers/${known.foreign.id}`,
    status: 403,
    says: ['Policy does not allow'],
  },
  {
    what: "deleting the other tenant's load balancer",
    method: 'DELETE',
    path: (known) => `/loadbalancers/${known.foreign.id}?cascade=true`,
    status: 403,
    says: ['Policy does not allow'],
  },
  {
    what: 'deleting what has children',
    method: 'DELETE',
    path: (known) => `/loadbalancers/${known.own.id}`,
    status: 400,
    says: ['has children'],
  },
]
