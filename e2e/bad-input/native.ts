import { balancer, member, PORT } from '../fixtures.ts'
import { type Bad, FORBIDDEN_MEMBERS, type Known, NOBODY } from './refusal.ts'

/** A load balancer that is to be created, with a VIP of the pool that has free ones unless the body says otherwise. */
const create = (
  what: string,
  body: (known: Known) => object | string,
  status: number,
  ...says: readonly (string | RegExp)[]
): Bad => ({
  what,
  path: () => '/load-balancers',
  body: (known) => {
    const made = body(known)
    return typeof made === 'string' ? made : { vips: [{ from: 'pool', poolId: known.pool }], ...made }
  },
  status,
  says,
})
const membersAre = (...members: object[]): object => balancer('bad', 'tcp', { pool: { members } })
const listenerIs = (listener: object): object => balancer('bad', 'tcp', { listener })
const poolIs = (pool: object): object => balancer('bad', 'tcp', { pool })

const watch = (fields: object = {}): object => ({ passiveCheck: { on: 'connection', ...fields } })

/** How members of a pool shall fail, where that cannot be. */
const BAD_FAILURE_SETTINGS: readonly (readonly [
  what: string,
  pool: object,
  protocol: 'tcp' | 'udp' | 'http',
  field: string,
  says: string,
])[] = [
  ['a slow start of two hours', { slowStartSeconds: 7200 }, 'tcp', 'slowStartSeconds', '3600'],
  ['a negative slow start', { slowStartSeconds: -1 }, 'tcp', 'slowStartSeconds', 'at least 0'],
  ['a slow start in words', { slowStartSeconds: 'soon' }, 'tcp', 'slowStartSeconds', 'must be a number'],
  ['a drain of half a second', { drainSeconds: 0.5 }, 'tcp', 'drainSeconds', 'a whole number'],
  ['a drain of two days', { drainSeconds: 172_800 }, 'tcp', 'drainSeconds', '86400'],
  ['a drain without an end', { drainSeconds: null }, 'tcp', 'drainSeconds', 'must be a number'],
  ['a panic threshold of 101 %', { panicThreshold: 101 }, 'tcp', 'panicThreshold', '100'],
  ['a TCP service probed by UDP', { monitor: { type: 'udp' } }, 'tcp', 'monitor.type', 'pools of protocol udp'],
  ['connections of UDP reset', { resetOnDown: true }, 'udp', 'resetOnDown', 'UDP has no connections'],
  ['resetOnDown as a number', { resetOnDown: 1 }, 'tcp', 'resetOnDown', 'true or false'],
  ['traffic watched in the packet path', watch(), 'tcp', 'passiveCheck', 'only pools behind the proxy'],
  ['traffic watched for nothing', watch({ failures: 0 }), 'http', 'passiveCheck.failures', 'at least 1'],
  ['traffic watched for words', watch({ on: 'anger' }), 'http', 'passiveCheck.on', 'connection'],
  ['a hold of a day', watch({ holdSeconds: 86_400 }), 'http', 'passiveCheck.holdSeconds', '3600'],
  ['nobody ever down', watch({ maxDownPercent: 0 }), 'http', 'passiveCheck.maxDownPercent', 'at least 1'],
  ['a watch with more to say', watch({ mood: 'grim' }), 'http', 'passiveCheck.mood', 'not known'],
]

export const NATIVE: readonly Bad[] = [
  create('an unknown field', () => ({ ...balancer('bad', 'tcp'), colour: 'red' }), 400, 'colour', 'not known'),
  create(
    'an unknown field deep inside',
    () => poolIs({ monitor: { type: 'tcp', speed: 1 } }),
    400,
    'pools[0].monitor.speed',
    'not known',
  ),
  create(
    '__proto__',
    (known) => `{"vips":[{"from":"pool","poolId":"${known.pool}"}],"__proto__":{"enabled":false}}`,
    400,
    '__proto__',
  ),
  create('a wrong type', () => ({ ...balancer('bad', 'tcp'), name: 7 }), 400, '"field":"name"', 'must be text'),
  create('a number as text', () => listenerIs({ port: '80' }), 400, 'listeners[0].port', 'number'),
  create('port 0', () => listenerIs({ port: 0 }), 400, 'listeners[0].port', '1'),
  create('port 65536', () => listenerIs({ port: 65536 }), 400, 'listeners[0].port', '65535'),
  create('an unknown protocol', () => listenerIs({ protocol: 'sctp' }), 400, 'listeners[0].protocol', 'tcp'),
  create(
    'weight 257',
    () => membersAre(member(1, PORT.tcp, { weight: 257 })),
    400,
    'pools[0].members[0].weight',
    '256',
  ),
  create('a name too long', () => ({ ...balancer('bad', 'tcp'), name: 'x'.repeat(256) }), 400, '"field":"name"', '255'),
  create(
    'an address with leading zeros',
    () => membersAre({ address: '010.0.0.11', port: 80 }),
    400,
    'members[0].address',
  ),
  create('an address that is none', () => membersAre({ address: '10.0.0.256', port: 80 }), 400, 'members[0].address'),
  create(
    'a path with a line break',
    () => poolIs({ monitor: { type: 'http', http: { path: '/\r\nHost: evil' } } }),
    400,
    'monitor.http.path',
  ),
  create(
    'a check slower than its interval',
    () => poolIs({ monitor: { type: 'tcp', intervalMs: 100, timeoutMs: 200 } }),
    400,
    'monitor.timeoutMs',
    'longer',
  ),
  ...BAD_FAILURE_SETTINGS.map(([what, pool, protocol, field, says]) =>
    create(what, () => balancer('bad', protocol, { pool }), 400, `"field":"pools[0].${field}"`, says),
  ),
  create(
    'two listeners on one port',
    () => ({
      listeners: [
        { protocol: 'tcp', port: 80 },
        { protocol: 'http', port: 80 },
      ],
    }),
    409,
    'listeners[1].port',
    'already',
  ),
  create('two members at one endpoint', () => membersAre(member(1, 80), member(1, 80)), 409, 'members[1]', 'already'),
  create(
    'a pool that is not there',
    () => ({ listeners: [{ protocol: 'tcp', port: 80, defaultPoolId: NOBODY }] }),
    400,
    'defaultPoolId',
    'not found',
  ),
  create('a pool of another protocol', () => listenerIs({ protocol: 'udp' }), 400, 'listeners[0]'),
  create('no VIP', () => ({ ...balancer('bad', 'tcp'), vips: [] }), 400, 'vips'),
  create(
    'an address pool that is full',
    (known) => ({ ...balancer('bad', 'tcp'), vips: [{ from: 'pool', poolId: known.fullPool }] }),
    409,
    'full',
    '0 of 2',
  ),
  create(
    'an address outside of the pool',
    (known) => ({ ...balancer('bad', 'tcp'), vips: [{ from: 'pool', poolId: known.pool, address: '198.51.100.99' }] }),
    400,
    'vips[0].address',
    '198.51.100.99',
  ),
  create(
    'an address that is taken',
    (known) => ({ ...balancer('bad', 'tcp'), vips: [{ from: 'pool', poolId: known.fullPool, address: '192.0.2.11' }] }),
    409,
    'vips[0].address',
    'in use',
  ),
  create(
    'an address pool that is not there',
    () => ({ ...balancer('bad', 'tcp'), vips: [{ from: 'pool', poolId: NOBODY }] }),
    400,
    'vips[0].poolId',
    'not found',
  ),
  create(
    "a subnet of the other tenant's",
    (known) => ({
      ...balancer('bad', 'tcp'),
      vips: [{ from: 'subnet', networkId: known.bolt.networkId, subnetId: known.bolt.subnetId }],
    }),
    400,
    'vips[0]',
    'not found',
  ),
  create(
    'a member outside of the networks',
    () => membersAre({ address: '10.9.9.9', port: 80 }),
    400,
    'members[0].address',
    'in none of the networks',
  ),
  ...FORBIDDEN_MEMBERS.map(([address, why]) =>
    create(`a member at ${address}`, () => membersAre({ address, port: 80 }), 400, 'members[0].address', why),
  ),
  create(
    'a check sent elsewhere',
    () => membersAre(member(1, 80, { monitorAddress: '169.254.169.254' })),
    400,
    'members[0].monitorAddress',
    'metadata',
  ),
  create(
    'more members than the quota',
    () => membersAre(...[1, 2, 3, 4].map((n) => ({ address: `10.0.0.${n + 20}`, port: 80 }))),
    403,
    'members',
    '5',
    '2',
  ),
  create('broken JSON', () => '{"name": "bad"', 400, 'not valid JSON'),
  create('a body that is no object', () => '[]', 400, 'object'),
  create('a body too large', () => `{"name":"${'x'.repeat(1_100_000)}"}`, 413, '1048576'),
  create(
    'a project that is not its own',
    (known) => ({ ...balancer('bad', 'tcp'), projectId: known.bolt.projectId }),
    403,
    /project|Not allowed/,
  ),
  {
    what: 'no token',
    path: () => '/load-balancers',
    body: () => balancer('bad', 'tcp'),
    token: () => '',
    status: 401,
    says: ['Authentication is required'],
  },
  {
    what: 'a token nobody gave',
    path: () => '/load-balancers',
    body: () => balancer('bad', 'tcp'),
    token: () => 'x'.repeat(43),
    status: 401,
    says: ['Authentication is required'],
  },
  {
    what: 'a token that expired',
    path: () => '/load-balancers',
    body: () => balancer('bad', 'tcp'),
    token: (known) => known.expiredToken,
    status: 401,
    says: [/expired|Authentication is required/],
  },
  ...(['GET', 'PUT', 'DELETE'] as const).map(
    (method): Bad => ({
      what: `${method} of the other tenant's load balancer`,
      method,
      path: (known) => `/load-balancers/${known.foreign.id}`,
      ...(method === 'PUT' ? { body: () => ({ name: 'mine' }) } : {}),
      status: 404,
      says: ['Load balancer', 'not found'],
    }),
  ),
  {
    what: "members of the other tenant's pool",
    method: 'PUT',
    path: (known) => `/load-balancers/${known.foreign.id}/pools/${known.foreign.pools[0]?.id}/members`,
    body: () => ({ members: [] }),
    status: 404,
    says: ['not found'],
  },
  {
    what: "the other tenant's network",
    method: 'DELETE',
    path: (known) => `/networks/${known.bolt.networkId}`,
    status: 404,
    says: ['Network', 'not found'],
  },
  {
    what: "a subnet in the other tenant's network",
    path: (known) => `/networks/${known.bolt.networkId}/subnets`,
    body: () => ({ cidr: '10.7.0.0/24' }),
    status: 404,
    says: ['Network', 'not found'],
  },
  {
    what: 'a subnet of loopback',
    path: (known) => `/networks/${known.acme.networkId}/subnets`,
    body: () => ({ cidr: '127.0.0.0/8' }),
    status: 400,
    says: ['cidr', 'loopback'],
  },
  {
    what: 'a subnet over management',
    path: (known) => `/networks/${known.acme.networkId}/subnets`,
    body: () => ({ cidr: '198.0.0.0/8' }),
    status: 400,
    says: ['cidr', 'management'],
  },
  {
    what: 'a subnet with host bits',
    path: (known) => `/networks/${known.acme.networkId}/subnets`,
    body: () => ({ cidr: '10.7.0.1/24' }),
    status: 400,
    says: ['cidr', 'bits set behind the prefix'],
  },
  {
    what: "a segment of one's own choice",
    path: () => '/networks',
    body: () => ({ name: 'n', segment: { physicalNetwork: 'tenant-b', vlan: null } }),
    status: 403,
    says: ['segment', 'administrator'],
  },
  {
    what: 'a network that is in use',
    method: 'DELETE',
    path: (known) => `/networks/${known.acme.networkId}`,
    status: 409,
    says: [/in use|has/],
  },
  {
    what: 'a project, as a tenant',
    path: () => '/projects',
    body: () => ({ name: 'mine' }),
    status: 403,
    says: ['Not allowed'],
  },
  { what: 'nodes, as a tenant', method: 'GET', path: () => '/nodes', status: 403, says: ['Not allowed'] },
  {
    what: 'an enrolment token, as a tenant',
    path: () => '/enrolment-tokens',
    body: () => ({ nodeName: 'evil', nodeGroupId: NOBODY }),
    status: 403,
    says: ['Not allowed'],
  },
  {
    what: 'an address pool that overlaps',
    path: () => '/address-pools',
    token: (known) => known.adminToken,
    body: () => ({
      name: 'again',
      ranges: [{ first: '198.51.100.40', last: '198.51.100.60' }],
      cidr: '198.51.100.0/24',
    }),
    status: 400,
    says: ['ranges[0]', 'overlaps'],
  },
  {
    what: 'a path that is not there',
    method: 'GET',
    path: () => '/nothing',
    status: 404,
    says: ['/api/v1/nothing'],
  },
  {
    what: 'an id that is none',
    method: 'GET',
    path: () => '/load-balancers/..%2f..%2fetc%2fpasswd',
    status: 404,
    says: ['not found'],
  },
]
