import { readdirSync, readFileSync } from 'node:fs'
import { loadBalancer, sendsRequest } from '@spout/model'
import { atOnce } from '@spout/runtime'
import { describe, expect, test } from 'vitest'
import { foldMonitor, unfoldMonitor } from '../conversion/convert-monitor.ts'
import { blankMonitor } from '../resources/health-monitor.ts'
import { blankListener, listenerResource } from '../resources/listener.ts'
import { loadBalancerResource } from '../resources/load-balancer.ts'
import { memberResource } from '../resources/member.ts'
import { blankPool, poolResource } from '../resources/pool.ts'
import type { OctaviaMember } from '../terms/octavia-resources.ts'
import {
  countingStamp,
  directory,
  id,
  listenerOf,
  loadBalancerOf,
  memberOf,
  NOW,
  PROJECT,
  poolOf,
} from '../testing/fixtures.ts'
import { type Edit, readObject } from '../wire/field.ts'
import { addListener } from './create-listeners.ts'
import { addPool, changeListener, changePool, removePool, setMonitor } from './edit-graph.ts'
import { replaceMembers } from './edit-members.ts'
import { graphChange, loadBalancerDraft, ownChange, readBody, readLoadBalancer } from './to-model.ts'

const testdata = new URL('../../testdata/to-model/', import.meta.url)
const providers = ['amphora', 'spout']

const draftOf = (request: unknown) =>
  loadBalancerDraft({ spec: readLoadBalancer(request, countingStamp()), projectId: PROJECT, directory, providers })

describe('requests become drafts of the model', () => {
  const cases = readdirSync(testdata).flatMap((name) => (name.endsWith('.in.json') ? [name.slice(0, -8)] : []))
  test.each(cases)('%s', async (name) => {
    const draft = draftOf(JSON.parse(readFileSync(new URL(`${name}.in.json`, testdata), 'utf8')))
    await expect(`${JSON.stringify(draft, null, 2)}\n`).toMatchFileSnapshot(
      new URL(`${name}.out.json`, testdata).pathname,
    )
    const { listeners, pools, annotations } = loadBalancer.shape
    expect(listeners.parse(draft.listeners)).toEqual(draft.listeners)
    expect(pools.parse(draft.pools)).toEqual(draft.pools)
    expect(annotations.parse(draft.annotations)).toEqual(draft.annotations)
  })
})

describe('invalid graphs', () => {
  const vip = { vip_subnet_id: id('publ') }
  const pool = { name: 'p', protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' }
  const listener = { protocol: 'HTTP', protocol_port: 80 }
  const cases: readonly [string, Record<string, unknown>, number, string][] = [
    ['no VIP', {}, 400, 'Validation failure: VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.'],
    ['an unknown subnet', { vip_subnet_id: id('none') }, 400, `Subnet ${id('none')} not found.`],
    ['an unknown network', { vip_network_id: id('none') }, 400, `Network ${id('none')} not found.`],
    ['an unknown port', { vip_port_id: id('none') }, 400, `Port ${id('none')} not found.`],
    [
      'a port in use',
      { vip_port_id: id('port', 8) },
      400,
      `Validation failure: Port ${id('port', 8)} is already used by device ${id('lb', 9)} `,
    ],
    [
      'a port without the subnet',
      { vip_port_id: id('port', 7), vip_subnet_id: id('subn', 1) },
      400,
      'Validation failure: No VIP address found on the specified VIP port within the specified subnet.',
    ],
    [
      'a port without the address',
      { vip_port_id: id('port', 7), vip_address: '10.0.0.71' },
      400,
      'Validation failure: Specified VIP address not found on the specified VIP port.',
    ],
    [
      'an address in none of the network’s subnets',
      { vip_network_id: id('netw'), vip_address: '10.9.0.1' },
      400,
      'Validation failure: Supplied network does not contain a subnet for VIP address specified.',
    ],
    [
      'an address outside of the subnet',
      { ...vip, vip_address: '198.51.100.1' },
      400,
      'Invalid input for operation: IP address 198.51.100.1 is not a valid IP for the specified subnet.',
    ],
    [
      'the same subnet twice',
      { vip_subnet_id: id('subn', 1), additional_vips: [{ subnet_id: id('subn', 1) }] },
      400,
      'Validation failure: Duplicate VIP subnet(s) specified. Only one IP can be bound per subnet.',
    ],
    [
      'two networks',
      { ...vip, additional_vips: [{ subnet_id: id('subn', 1) }] },
      400,
      'Validation failure: All VIP subnets must belong to the same network.',
    ],
    ['a provider of elsewhere', { ...vip, provider: 'f5' }, 400, "Provider 'f5' is not enabled."],
    [
      'sources of a listener beside security groups',
      { ...vip, vip_sg_ids: [id('none')], listeners: [{ ...listener, allowed_cidrs: ['192.0.2.0/24'] }] },
      400,
      'Validation failure: Allowed CIDRs are not allowed when using custom VIP Security Groups.',
    ],
    [
      'a nameless default pool',
      { ...vip, listeners: [{ ...listener, default_pool: { ...pool, name: '' } }] },
      400,
      'Validation failure: Pools must be named when creating a fully populated loadbalancer.',
    ],
    [
      'two pools of one name',
      { ...vip, pools: [pool, pool] },
      400,
      'Validation failure: Pool names must be unique when creating a fully populated loadbalancer.',
    ],
    [
      'a reference to nothing',
      { ...vip, listeners: [{ ...listener, default_pool: { name: 'q' } }], pools: [pool] },
      400,
      "Validation failure: Pool 'q' was referenced but no full definition was found.",
    ],
    [
      'a pool without an algorithm',
      { ...vip, pools: [{ name: 'p', protocol: 'TCP' }] },
      400,
      "Validation failure: Pool definition for 'p' missing required attribute: lb_algorithm",
    ],
    [
      'one port twice',
      { ...vip, listeners: [listener, { protocol: 'TCP', protocol_port: 80 }] },
      409,
      'Another Listener on this Load Balancer is already using protocol HTTP and protocol_port 80',
    ],
    [
      'protocols that do not go together',
      { ...vip, listeners: [{ ...listener, default_pool: { ...pool, protocol: 'UDP' } }] },
      400,
      "Validation failure: The pool protocol 'UDP' is invalid while the listener protocol is 'HTTP'.",
    ],
    [
      'a list of sources of the other IP version',
      { ...vip, vip_address: '192.0.2.20', listeners: [{ ...listener, allowed_cidrs: ['fd00::/8'] }] },
      400,
      "Validation failure: CIDR fd00::/8 IP version incompatible with all VIPs ['192.0.2.20'] IP version.",
    ],
    [
      'a member twice',
      {
        ...vip,
        pools: [
          {
            ...pool,
            members: [
              { address: '10.0.0.1', protocol_port: 80 },
              { address: '10.0.0.1', protocol_port: 80 },
            ],
          },
        ],
      },
      409,
      'Another member on this pool is already using ip 10.0.0.1 on protocol_port 80',
    ],
    [
      'the metadata address as a member',
      { ...vip, pools: [{ ...pool, members: [{ address: '169.254.169.254', protocol_port: 80 }] }] },
      400,
      '169.254.169.254 is not a valid option for member address',
    ],
    [
      'TLS',
      { ...vip, listeners: [{ protocol: 'TERMINATED_HTTPS', protocol_port: 443 }] },
      400,
      'Validation failure: An SNI or default certificate container reference must be provided for TERMINATED_HTTPS protocol listeners.',
    ],
  ]
  test.each(cases)('%s', (_, loadbalancer, status, message) => {
    expect(() => draftOf({ loadbalancer })).toThrow(expect.objectContaining({ status, message }))
  })
})

describe('the protocols of the model', () => {
  const protocolsOf = (listener: Record<string, unknown>, pool: Record<string, unknown>) => {
    const draft = draftOf({
      loadbalancer: {
        vip_subnet_id: id('publ'),
        listeners: [
          {
            protocol_port: 80,
            ...listener,
            default_pool: { name: 'p', lb_algorithm: 'ROUND_ROBIN', ...pool },
          },
        ],
      },
    })
    return [draft.listeners[0]?.protocol, draft.pools[0]?.protocol]
  }
  test.each([
    ['TCP', 'TCP', {}, {}, ['tcp', 'tcp']],
    ['TCP', 'HTTP', {}, {}, ['tcp', 'tcp']],
    ['HTTPS', 'HTTPS', {}, {}, ['tcp', 'tcp']],
    ['HTTPS', 'TCP', {}, {}, ['tcp', 'tcp']],
    ['UDP', 'UDP', {}, {}, ['udp', 'udp']],
    ['HTTP', 'HTTP', {}, {}, ['http', 'http']],
    ['HTTP', 'PROXYV2', {}, {}, ['http', 'tcp-proxy-v2']],
    ['TCP', 'PROXY', {}, {}, ['tcp-proxy', 'tcp-proxy-v1']],
    ['HTTPS', 'PROXYV2', {}, {}, ['tcp-proxy', 'tcp-proxy-v2']],
    ['TCP', 'TCP', { timeout_client_data: 60_000 }, {}, ['tcp-proxy', 'tcp-proxy']],
    ['TCP', 'TCP', {}, { lb_algorithm: 'LEAST_CONNECTIONS' }, ['tcp-proxy', 'tcp-proxy']],
    ['UDP', 'UDP', { timeout_client_data: 60_000 }, {}, ['udp', 'udp']],
  ])('%s to %s with %j %j', (listener, pool, listenerFields, poolFields, protocols) => {
    expect(protocolsOf({ protocol: listener, ...listenerFields }, { protocol: pool, ...poolFields })).toEqual(protocols)
  })

  test('TCP listeners that share a pool are proxied together', () => {
    const lb = loadBalancerOf({
      listeners: [listenerOf(1, { defaultPoolId: id('pool') }), listenerOf(2, { defaultPoolId: id('pool') })],
      pools: [poolOf(1)],
    })
    const slow = readBody(listenerResource, 'update', { listener: { timeout_member_data: 1 } }, countingStamp())
    const { listeners, pools } = graphChange(changeListener(id('list', 1), slow, NOW))(lb)
    expect(listeners?.map(({ protocol }) => protocol)).toEqual(['tcp-proxy', 'tcp-proxy'])
    expect(pools?.[0]?.protocol).toBe('tcp-proxy')
  })

  test('a pool cannot serve HTTP and TCP at once', () => {
    const lb = loadBalancerOf({
      listeners: [listenerOf(1, { protocol: 'http', defaultPoolId: id('pool') })],
      pools: [poolOf(1, { protocol: 'http' })],
    })
    const spec = { ...blankListener(countingStamp()), model: listenerOf(2, { defaultPoolId: id('pool') }) }
    expect(() => graphChange(addListener(spec))(lb)).toThrow(expect.objectContaining({ status: 501 }))
  })
})

describe('changes', () => {
  const stamp = { ...countingStamp(), now: '2026-03-02T00:00:00.000Z' }
  const lb = loadBalancerOf({
    listeners: [listenerOf(1, { defaultPoolId: id('pool') })],
    pools: [poolOf(1, { members: [memberOf(1), memberOf(2, { name: 'two', weight: 5 })] })],
    annotations: { 'octavia.provider': 'amphora', [`octavia.${id('gone')}.protocol`]: 'HTTPS', 'k8s.owner': 'x' },
  })

  test('an update of the load balancer keeps omitted fields', () => {
    const edit = readBody(loadBalancerResource, 'update', { loadbalancer: { name: null, tags: ['b', 'b'] } }, stamp)
    expect(ownChange(edit)({ ...lb, description: 'kept' })).toEqual({
      name: '',
      description: 'kept',
      enabled: true,
      tags: ['b'],
    })
  })

  test('facts of children that are gone go with them, others are left alone', () => {
    expect(graphChange((graph) => graph)(lb).annotations).toEqual({ 'octavia.provider': 'amphora', 'k8s.owner': 'x' })
  })

  test('a change that changes nothing keeps the very objects', () => {
    const change = graphChange((graph) => graph)(lb)
    expect(change.pools?.[0]).toBe(lb.pools[0])
    expect(change.listeners?.[0]).toBe(lb.listeners[0])
  })

  test('a deleted pool leaves its listeners without one', () => {
    const { listeners, pools } = graphChange(removePool(id('pool')))(lb)
    expect(pools).toEqual([])
    expect(listeners?.[0]?.defaultPoolId).toBeNull()
  })

  test('a listener has one default pool', () => {
    const pool = readBody(
      poolResource,
      'create',
      { pool: { listener_id: id('list'), protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' } },
      stamp,
    )
    const spec = pool(blankPool(stamp))
    expect(() => graphChange(addPool(spec))(lb)).toThrow('This listener already has a default pool')
  })

  test('a pool has one monitor', () => {
    const { poolId: _, ...monitor } = { ...blankMonitor(stamp), delaySeconds: 1, timeoutSeconds: 1 }
    const twice = graphChange((graph) => setMonitor(id('pool'), monitor)(setMonitor(id('pool'), monitor)(graph)))
    expect(() => twice(lb)).toThrow('This pool already has a health monitor')
  })

  test('a time-out longer than the delay stretches the interval and is remembered', () => {
    const { poolId: _, ...monitor } = { ...blankMonitor(stamp), delaySeconds: 2, timeoutSeconds: 3 }
    const { pools, annotations } = graphChange(setMonitor(id('pool'), monitor))(lb)
    expect(pools?.[0]?.monitor).toMatchObject({ intervalMs: 3000, timeoutMs: 3000 })
    expect(annotations?.[`octavia.${monitor.model.id}.delay`]).toBe('2')
  })

  test.each([
    ['UDP-CONNECT', 'udp'],
    ['PING', 'ping'],
    ['SCTP', 'sctp'],
    ['TCP', 'tcp'],
    ['HTTP', 'http'],
    ['HTTPS', 'https'],
    ['TLS-HELLO', 'tls-hello'],
  ] as const)('a monitor of type %s is one of %s, and back', (type, word) => {
    const { poolId: _, ...blank } = { ...blankMonitor(stamp), delaySeconds: 1, timeoutSeconds: 1, type }
    const made = foldMonitor(blank)
    expect(made).toMatchObject({ type: word, http: sendsRequest(word) ? {} : null })
    expect(unfoldMonitor(made, { explicitVersion: false, delaySeconds: null }).type).toBe(type)
  })

  test('an update of the session persistence keeps its type', () => {
    const kept = {
      ...lb,
      pools: [poolOf(1, { protocol: 'udp', persistence: { type: 'source-ip', timeoutSeconds: 5 } })],
      listeners: [],
    }
    const edit = readBody(poolResource, 'update', { pool: { session_persistence: { persistence_timeout: 9 } } }, stamp)
    expect(graphChange(changePool(id('pool'), edit, NOW))(kept).pools?.[0]?.persistence).toEqual({
      type: 'source-ip',
      timeoutSeconds: 9,
    })
  })

  describe('the whole set of members', () => {
    const member = (json: object): Edit<OctaviaMember> =>
      readObject(memberResource.fields, 'create', json, { path: 'members_.members', stamp })
    const changed = (members: readonly object[], additiveOnly = false) =>
      atOnce(replaceMembers(id('pool'), { members: members.map(member), additiveOnly }, stamp)(lb))

    const one = { address: '10.0.0.1', protocol_port: 80 }
    const two = { address: '10.0.0.2', protocol_port: 80, weight: 5 }
    const three = { address: '10.0.0.3', protocol_port: 80 }

    test('says what changes, comes and goes, and nothing of the very members that stay', () => {
      expect(changed([{ ...one, weight: 9 }, three])).toEqual({
        poolId: id('pool'),
        put: [
          { ...lb.pools[0]?.members[0], weight: 9, updatedAt: stamp.now, createdAt: NOW },
          expect.objectContaining({ address: '10.0.0.3', weight: 1, updatedAt: null, createdAt: stamp.now }),
        ],
        remove: [lb.pools[0]?.members[1]],
      })
      expect(changed([one, two, three])).toMatchObject({ put: [{ address: '10.0.0.3' }], remove: [] })
    })

    test('additive keeps members that are not named', () => {
      expect(changed([three], true)).toMatchObject({ put: [{ address: '10.0.0.3' }], remove: [] })
    })

    test('the same set again is no change, and a name left out stays', () => {
      expect(changed([two, one])).toEqual({ poolId: id('pool'), put: [], remove: [] })
    })

    test('another subnet is a change of a member that stays', () => {
      expect(changed([{ ...one, subnet_id: id('subn') }, two])).toEqual({
        poolId: id('pool'),
        put: [{ ...lb.pools[0]?.members[0], subnetId: id('subn'), updatedAt: stamp.now }],
        remove: [],
      })
    })

    test('an empty set removes all', () => {
      expect(changed([])).toEqual({ poolId: id('pool'), put: [], remove: lb.pools[0]?.members })
    })

    test.each([
      [
        'a present one twice',
        [one, one],
        400,
        'Validation failure: Member must be updated only once in the same request.',
      ],
      [
        'a new one twice',
        [
          { address: '10.0.0.9', protocol_port: 80 },
          { address: '10.0.0.9', protocol_port: 80 },
        ],
        409,
        'Another member on this pool is already using ip 10.0.0.9 on protocol_port 80',
      ],
    ])('refuses %s', (_, members, status, message) => {
      expect(() => changed(members)).toThrow(expect.objectContaining({ status, message }))
    })
  })
})
