import type { PoolFigures, TrafficFigures } from '@spout/dataplane'
import { RESPONSE_CLASSES, type ServiceStats } from '@spout/model/node-report'
import type { LoadBalancerEntry, NodeMember } from '@spout/model/node-state'
import { isProxied } from '@spout/model/protocols'
import { latencyFamilies } from './latency-text.ts'
import type { ListenerLatencies } from './request-figures.ts'

/** What this node knows of one load balancer. */
export interface KnownFigures {
  readonly entry: LoadBalancerEntry
  /** By listener id. */
  readonly stats: ReadonlyMap<string, ServiceStats>
  /** Figures of the pools behind the proxy. The packet path does not count by pool. */
  readonly pools: readonly PoolFigures[]
  /** Ids of members that are down. */
  readonly down: ReadonlySet<string>
  /** By listener id. */
  readonly latencies: ReadonlyMap<string, ListenerLatencies>
}

type Labels = Readonly<Record<string, string>>
type Sample = readonly [labels: Labels, value: number | undefined]

/**
 * The figures of a load balancer on this node, in the Prometheus text format 0.0.4. Names and labels are those of
 * Octavia's PROMETHEUS listeners (user guide, "Monitoring Load Balancers"). What is not counted here is left out.
 */
export function metricsText({ entry, stats, pools, down, latencies }: KnownFigures): string {
  return [
    ...listenerFamilies(entry, stats),
    ...memberCounts(entry, down),
    ...traffic(
      'octavia_pool',
      pools.map((pool) => ({ labels: { pool: pool.poolId }, figures: pool, isHttp: isHttp(entry, pool.poolId) })),
    ),
    ...memberStates(entry, down),
    ...traffic(
      'octavia_member',
      pools.flatMap(({ poolId: pool, members }) =>
        Array.from(members, ([member, figures]) => ({
          labels: { pool, member },
          figures,
          isHttp: isHttp(entry, pool),
        })),
      ),
    ),
    ...latencyFamilies(latencies),
  ].join('')
}

/** The families of the load balancer and of its listeners. */
function listenerFamilies(entry: LoadBalancerEntry, stats: KnownFigures['stats']): readonly string[] {
  const listeners = entry.services.map((service) => ({
    labels: { listener: service.id },
    service,
    proxied: isProxied(service.protocol),
    stats: stats.get(service.id),
  }))
  const counted = listeners.flatMap((one) => one.stats ?? [])
  const total = (of: (one: ServiceStats) => number): readonly Sample[] => [
    [{}, counted.reduce((sum, one) => sum + of(one), 0)],
  ]
  const ofListeners = (of: (one: (typeof listeners)[number]) => number | undefined): readonly Sample[] =>
    listeners.map((one) => [one.labels, of(one)])
  const proxied = (of: (one: ServiceStats) => number | undefined) =>
    ofListeners((one) => (one.proxied && one.stats !== undefined ? of(one.stats) : undefined))
  return [
    gauge('octavia_loadbalancer_listeners', 'Current number of active listeners.', [[{}, listeners.length]]),
    // The packet path does not count open connections.
    gauge(
      'octavia_loadbalancer_current_connections',
      'Number of active sessions.',
      listeners.every((one) => one.proxied) ? total(({ activeConnections }) => activeConnections) : [],
    ),
    counter(
      'octavia_loadbalancer_connections_total',
      'Total number of created sessions.',
      total((one) => one.totalConnections),
    ),
    counter(
      'octavia_loadbalancer_requests_total',
      'Total number of requests (TCP or HTTP).',
      total(({ http, totalConnections }) => http?.requests ?? totalConnections),
    ),
    gauge(
      'octavia_listener_status',
      'Current status of the listener.',
      ofListeners(() => 1),
    ),
    gauge(
      'octavia_listener_current_sessions',
      'Current number of active sessions.',
      proxied((one) => one.activeConnections),
    ),
    gauge(
      'octavia_listener_limit_sessions',
      'Configured session limit.',
      ofListeners(({ service }) => service.connectionLimit ?? undefined),
    ),
    counter(
      'octavia_listener_sessions_total',
      'Total number of sessions.',
      ofListeners((one) => one.stats?.totalConnections),
    ),
    counter(
      'octavia_listener_connections_total',
      'Total number of connections.',
      ofListeners((one) => one.stats?.totalConnections),
    ),
    counter(
      'octavia_listener_bytes_in_total',
      'Current total of incoming bytes.',
      ofListeners((one) => one.stats?.bytesIn),
    ),
    counter(
      'octavia_listener_bytes_out_total',
      'Current total of outgoing bytes.',
      ofListeners((one) => one.stats?.bytesOut),
    ),
    counter(
      'octavia_listener_request_errors_total',
      'Total number of request errors.',
      proxied((one) => one.requestErrors),
    ),
    counter(
      'octavia_listener_http_requests_total',
      'Total number of HTTP requests received.',
      proxied((one) => one.http?.requests),
    ),
    counter(
      'octavia_listener_http_responses_total',
      'Total number of HTTP responses.',
      RESPONSE_CLASSES.flatMap((code) =>
        listeners.map(({ labels, stats: of }): Sample => [{ ...labels, code }, of?.http?.responses[code]]),
      ),
    ),
  ]
}

const isHttp = ({ pools }: LoadBalancerEntry, poolId: string): boolean =>
  pools.find(({ id }) => id === poolId)?.mode === 'http'

const serves = (member: NodeMember | null, down: ReadonlySet<string>): member is NodeMember =>
  member !== null && member.weight > 0 && !down.has(member.id)

function memberCounts({ pools }: LoadBalancerEntry, down: ReadonlySet<string>): readonly string[] {
  const counted = pools.map(({ id, members }) => {
    const serving = members.filter((member) => serves(member, down))
    const backup = serving.filter((member) => member?.backup).length
    return { labels: { pool: id }, active: serving.length - backup, backup }
  })
  const of = (read: (one: (typeof counted)[number]) => number): readonly Sample[] =>
    counted.map((one) => [one.labels, read(one)])
  return [
    gauge(
      'octavia_pool_status',
      'Current status of the pool.',
      of(({ active, backup }) => (active + backup > 0 ? 1 : 0)),
    ),
    gauge(
      'octavia_pool_active_members',
      'Current number of active members.',
      of(({ active }) => active),
    ),
    gauge(
      'octavia_pool_backup_members',
      'Current number of backup members.',
      of(({ backup }) => backup),
    ),
  ]
}

function memberStates({ pools }: LoadBalancerEntry, down: ReadonlySet<string>): readonly string[] {
  const all = pools.flatMap(({ id: pool, members }) =>
    members.flatMap((member) => (member === null ? [] : [{ labels: { pool, member: member.id }, member }])),
  )
  return [
    gauge(
      'octavia_member_status',
      'Current status of the member.',
      all.map(({ labels, member }) => [labels, down.has(member.id) ? 0 : 1]),
    ),
    gauge(
      'octavia_member_weight',
      'Member weight.',
      all.map(({ labels, member }) => [labels, member.weight]),
    ),
  ]
}

interface Counted {
  readonly labels: Labels
  readonly figures: TrafficFigures
  readonly isHttp: boolean
}

/** The families that both pools and members have. */
function traffic(prefix: string, counted: readonly Counted[]): readonly string[] {
  const of = (read: (figures: TrafficFigures) => number): readonly Sample[] =>
    counted.map(({ labels, figures }) => [labels, read(figures)])
  const average = (what: string, read: (figures: TrafficFigures) => number): string =>
    gauge(
      `${prefix}_${what}_time_average_seconds`,
      `Avg. ${what} time for last 1024 successful connections.`,
      of((figures) => read(figures) / 1000),
    )
  return [
    gauge(
      `${prefix}_current_sessions`,
      'Current number of active sessions.',
      of(({ current }) => current),
    ),
    gauge(
      `${prefix}_current_queue`,
      'Current number of queued requests.',
      of(({ queued }) => queued),
    ),
    counter(
      `${prefix}_sessions_total`,
      'Total number of sessions.',
      of(({ total }) => total),
    ),
    counter(
      `${prefix}_bytes_in_total`,
      'Current total of incoming bytes.',
      of(({ bytesIn }) => bytesIn),
    ),
    counter(
      `${prefix}_bytes_out_total`,
      'Current total of outgoing bytes.',
      of(({ bytesOut }) => bytesOut),
    ),
    average('queue', ({ queueMs }) => queueMs),
    average('connect', ({ connectMs }) => connectMs),
    average('response', ({ responseMs }) => responseMs),
    average('total', ({ totalMs }) => totalMs),
    counter(
      `${prefix}_connection_errors_total`,
      'Total number of connection errors.',
      of(({ connectionErrors }) => connectionErrors),
    ),
    counter(
      `${prefix}_response_errors_total`,
      'Total number of response errors.',
      of(({ responseErrors }) => responseErrors),
    ),
    counter(
      `${prefix}_retry_warnings_total`,
      'Total number of retry warnings.',
      of(({ retries }) => retries),
    ),
    counter(
      `${prefix}_redispatch_warnings_total`,
      'Total number of redispatch warnings.',
      of(({ redispatches }) => redispatches),
    ),
    counter(
      `${prefix}_http_responses_total`,
      'Total number of HTTP responses.',
      RESPONSE_CLASSES.flatMap((code) =>
        counted.map(
          ({ labels, figures, isHttp: reads }): Sample => [
            { ...labels, code },
            reads ? figures.responses[code] : undefined,
          ],
        ),
      ),
    ),
  ]
}

const gauge = (name: string, help: string, samples: readonly Sample[]): string => family('gauge', name, help, samples)
const counter = (name: string, help: string, samples: readonly Sample[]): string =>
  family('counter', name, help, samples)

/**
 * Samples without a value are left out, and a family without samples too. Label values are ids, which need no escape.
 */
function family(type: 'gauge' | 'counter', name: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.flatMap(([labels, value]) =>
    value === undefined ? [] : [`${name}${braced(labels)} ${value}\n`],
  )
  return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function braced(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return pairs.length === 0 ? '' : `{${pairs.join()}}`
}
