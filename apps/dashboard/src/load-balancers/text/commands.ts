import type { HealthMonitor, Listener, LoadBalancer, Member, Pool } from '@spout/model'
import { command } from '../../parts/shell-word.ts'

type Described = Pick<LoadBalancer, 'name' | 'id' | 'vips' | 'listeners' | 'pools'>

const nameOf = ({ name, id }: { readonly name: string; readonly id: string }): string => name || id

/** Names of address pools by id. */
export type PoolNames = ReadonlyMap<string, string>

/** The commands of `spout` that make such a load balancer. Options that they leave out are in the YAML. */
export function spoutCommands(document: Described, poolNames: PoolNames = new Map()): string {
  const { vips, pools, listeners } = document
  const lb = nameOf(document)
  const [vip] = vips
  return [
    command(
      ['spout', 'lb', 'create', lb],
      [
        ['--pool', vip?.poolId && (poolNames.get(vip.poolId) ?? vip.poolId)],
        ['--subnet', vip?.subnetId],
      ],
    ),
    ...pools.flatMap((pool) => [spoutPool(lb, pool), ...pool.members.map((member) => spoutMember(lb, pool, member))]),
    ...listeners.flatMap((listener) => [spoutListener(lb, listener, pools), ...routesNote(listener)]),
  ].join('\n')
}

const spoutPool = (lb: string, pool: Pool): string =>
  command(
    ['spout', 'pool', 'create', lb, nameOf(pool)],
    [
      ['--protocol', pool.protocol],
      ['--algorithm', pool.algorithm === 'round-robin' ? null : pool.algorithm],
      ['--check', pool.monitor?.type],
      ['--check-path', pool.monitor?.http?.path === '/' ? null : pool.monitor?.http?.path],
      ['--tls', pool.tls === undefined ? null : 'yes'],
    ],
  )

const spoutMember = (lb: string, pool: Pool, member: Member): string =>
  command(
    ['spout', 'member', 'create', lb, nameOf(pool), nameOf(member)],
    [
      ['--address', member.address],
      ['--port', member.port],
      ['--weight', member.weight === 1 ? null : member.weight],
      ['--backup', member.backup || null],
    ],
  )

const spoutListener = (lb: string, listener: Listener, pools: readonly Pool[]): string =>
  command(
    ['spout', 'listener', 'create', lb, nameOf(listener)],
    [
      ['--protocol', listener.protocol],
      ['--port', listener.port],
      ['--default-pool', poolName(listener.defaultPoolId, pools)],
      ['--certificates', listener.tls?.certificateIds.join(',')],
      ['--connection-limit', listener.connectionLimit],
      ['--allowed-cidrs', listener.allowedCidrs?.join(',')],
    ],
  )

/** What no command here makes is said. It names no listener: a name could end the comment. */
function routesNote({ port, routes }: Listener): readonly string[] {
  if (routes.length === 0) return []
  const count = routes.length === 1 ? '1 route' : `${routes.length} routes`
  return [`# The listener of port ${port} has ${count}, which no command here makes: see the YAML.`]
}

const poolName = (id: string | null, pools: readonly Pool[]): string | null => {
  const pool = pools.find((one) => one.id === id)
  return pool === undefined ? null : nameOf(pool)
}

const OCTAVIA_PROTOCOLS: Readonly<Partial<Record<Listener['protocol'], string>>> = {
  tcp: 'TCP',
  udp: 'UDP',
  sctp: 'SCTP',
  http: 'HTTP',
  https: 'TERMINATED_HTTPS',
}
const OCTAVIA_POOLS: Readonly<Record<Pool['protocol'], string>> = {
  ...{ tcp: 'TCP', udp: 'UDP', sctp: 'SCTP', http: 'HTTP', 'tcp-proxy': 'TCP' },
  ...{ 'tcp-proxy-v1': 'PROXY', 'tcp-proxy-v2': 'PROXYV2' },
}
const ALGORITHMS: Readonly<Record<Pool['algorithm'], string>> = {
  'round-robin': 'ROUND_ROBIN',
  'least-connections': 'LEAST_CONNECTIONS',
  'source-ip': 'SOURCE_IP',
  'source-ip-port': 'SOURCE_IP_PORT',
}
const MONITORS: Readonly<Record<HealthMonitor['type'], string>> = {
  ...{ tcp: 'TCP', http: 'HTTP', https: 'HTTPS', 'tls-hello': 'TLS-HELLO' },
  ...{ udp: 'UDP-CONNECT', sctp: 'SCTP', ping: 'PING' },
}

/**
 * The commands of `openstack` that make such a load balancer. A listener whose protocol Octavia has no word for is a
 * comment.
 */
export function openstackCommands(document: Described, poolNames: PoolNames = new Map()): string {
  const { vips, pools, listeners } = document
  const lb = nameOf(document)
  const [vip] = vips
  return [
    command(
      ['openstack', 'loadbalancer', 'create'],
      [
        ['--wait', true],
        ['--name', lb],
        ['--vip-network-id', vip?.poolId && (poolNames.get(vip.poolId) ?? vip.poolId)],
        ['--vip-subnet-id', vip?.subnetId],
      ],
    ),
    ...listeners.flatMap((listener) => [openstackListener(lb, listener), ...routesNote(listener)]),
    ...pools.flatMap((pool) => openstackPool(lb, pool, listeners)),
  ].join('\n')
}

function openstackListener(lb: string, listener: Listener): string {
  const protocol = OCTAVIA_PROTOCOLS[listener.protocol]
  if (protocol === undefined)
    return `# The Octavia API has no word for protocol ${listener.protocol} (port ${listener.port}).`
  return command(
    ['openstack', 'loadbalancer', 'listener', 'create'],
    [
      ['--wait', true],
      ['--name', nameOf(listener)],
      ['--protocol', protocol],
      ['--protocol-port', listener.port],
      ['--default-tls-container-ref', listener.tls?.certificateIds[0]],
      ['--connection-limit', listener.connectionLimit],
    ],
    [lb],
  )
}

function openstackPool(lb: string, pool: Pool, listeners: readonly Listener[]): readonly string[] {
  const listener = listeners.find(({ defaultPoolId }) => defaultPoolId === pool.id)
  const { monitor } = pool
  return [
    command(
      ['openstack', 'loadbalancer', 'pool', 'create'],
      [
        ['--wait', true],
        ['--name', nameOf(pool)],
        ['--protocol', OCTAVIA_POOLS[pool.protocol]],
        ['--lb-algorithm', ALGORITHMS[pool.algorithm]],
        listener === undefined ? ['--loadbalancer', lb] : ['--listener', nameOf(listener)],
      ],
    ),
    ...pool.members.map((member) =>
      command(
        ['openstack', 'loadbalancer', 'member', 'create'],
        [
          ['--wait', true],
          ['--name', member.name],
          ['--address', member.address],
          ['--protocol-port', member.port],
          ['--weight', member.weight === 1 ? null : member.weight],
        ],
        [nameOf(pool)],
      ),
    ),
    ...(monitor === null ? [] : [openstackMonitor(pool, monitor)]),
  ]
}

/** Octavia counts in whole seconds. */
const seconds = (ms: number): number => Math.max(1, Math.round(ms / 1000))

const openstackMonitor = (pool: Pool, monitor: HealthMonitor): string =>
  command(
    ['openstack', 'loadbalancer', 'healthmonitor', 'create'],
    [
      ['--wait', true],
      ['--type', MONITORS[monitor.type]],
      ['--delay', seconds(monitor.intervalMs)],
      ['--timeout', seconds(monitor.timeoutMs)],
      ['--max-retries', monitor.rise],
      ['--max-retries-down', monitor.fall],
      ['--url-path', monitor.http?.path],
    ],
    [nameOf(pool)],
  )
