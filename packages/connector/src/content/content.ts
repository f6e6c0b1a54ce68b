import type { CheckType, Listener, LoadBalancer, Pool } from '@spout/model'
import { type RouteContent, routeContentOf } from './route-content.ts'

/**
 * The part of a load balancer's document that we write. The control plane assigns the ids. A listener keeps its id
 * while protocol and port stay the same, a pool while its name does, a member while address and port do.
 */
export interface LoadBalancerContent {
  readonly name: string
  readonly annotations: Readonly<Record<string, string>>
  /**
   * Written with the rest, but not compared with the present ones: whoever sets tags also sets an annotation that
   * changes with them. Absent: none.
   */
  readonly tags?: readonly string[]
  readonly pools: readonly PoolContent[]
  readonly listeners: readonly ListenerContent[]
  /** DNS names to publish; absent: none. An empty list removes the present ones. */
  readonly dnsNames?: readonly string[]
  /** Seconds; absent: the control plane's default. */
  readonly dnsTtlSeconds?: number
}

export interface ListenerContent {
  readonly name: string
  readonly protocol: Listener['protocol']
  readonly port: number
  /** Name of a pool of this document; empty for none. */
  readonly defaultPool: string
  readonly allowedCidrs: readonly string[] | null
  /** For listeners of protocols `http`, `https`, `tls` and `tls-passthrough`, in order. Absent: none. */
  readonly routes?: readonly RouteContent[]
  /** For listeners of protocols `https` and `tls`, with all its defaults: `listenerTls` sets them. */
  readonly tls?: NonNullable<Listener['tls']>
  /** Absent: none. */
  readonly insertHeaders?: Listener['insertHeaders']
}

export interface PoolContent {
  /** Unique in the document. */
  readonly name: string
  readonly protocol: Pool['protocol']
  readonly persistence: Pool['persistence']
  readonly panicThreshold: number
  readonly drainSeconds: number
  readonly members: readonly MemberContent[]
  readonly monitor: MonitorContent | null
  /** TLS settings for connections to members, with all defaults, which `poolTls` sets. Absent: no TLS. */
  readonly tls?: NonNullable<Pool['tls']>
  /** Members speak HTTP/2 without TLS. Absent: they do not. */
  readonly http2?: true
  /** The percentage of new connections that is refused. Absent: none. */
  readonly refusedPercent?: number
}

export interface MemberContent {
  readonly name: string
  readonly address: string
  readonly port: number
  readonly weight: number
  readonly monitorPort: number | null
}

export interface MonitorContent {
  readonly type: CheckType
  readonly intervalMs: number
  readonly timeoutMs: number
  readonly rise: number
  readonly fall: number
  /** Set only for type `http`. */
  readonly path: string | null
}

/** The content of an existing document, without its tags. */
export const contentOf = (document: LoadBalancer): LoadBalancerContent => ({
  ...poolless(document),
  pools: document.pools.map(poolContentOf),
  listeners: listenersOf(document),
})

/** The content without pools and listeners. */
export const poolless = (document: LoadBalancer): Omit<LoadBalancerContent, 'tags' | 'pools' | 'listeners'> => ({
  name: document.name,
  annotations: sorted(document.annotations),
  ...namesOf(document),
})

export const poolContentOf = (pool: Pool): PoolContent => ({
  name: pool.name,
  protocol: pool.protocol,
  persistence: pool.persistence,
  panicThreshold: pool.panicThreshold,
  drainSeconds: pool.drainSeconds,
  members: pool.members.map(({ name, address, port, weight, monitorPort }) => ({
    name,
    address,
    port,
    weight,
    monitorPort,
  })),
  monitor:
    pool.monitor === null
      ? null
      : {
          type: pool.monitor.type,
          intervalMs: pool.monitor.intervalMs,
          timeoutMs: pool.monitor.timeoutMs,
          rise: pool.monitor.rise,
          fall: pool.monitor.fall,
          path: pool.monitor.http?.path ?? null,
        },
  ...(pool.tls === undefined ? {} : { tls: pool.tls }),
  ...(pool.http2 === undefined ? {} : { http2: true as const }),
  ...(pool.refusedPercent === undefined ? {} : { refusedPercent: pool.refusedPercent }),
})

function namesOf({
  dnsNames = [],
  dnsTtlSeconds,
}: LoadBalancer): Pick<LoadBalancerContent, 'dnsNames' | 'dnsTtlSeconds'> {
  if (dnsNames.length === 0) return {}
  return { dnsNames, ...(typeof dnsTtlSeconds === 'number' && { dnsTtlSeconds }) }
}

/**
 * The listeners of `contentOf`, without computing the rest. Documents of earlier control planes lack newer fields.
 */
export function listenersOf(document: LoadBalancer): readonly ListenerContent[] {
  const poolNames = new Map(document.pools.map(({ id, name }) => [id, name]))
  return document.listeners.map(
    ({ name, protocol, port, defaultPoolId, allowedCidrs, routes = [], tls = null, insertHeaders = [] }) => ({
      name,
      protocol,
      port,
      defaultPool: poolNames.get(defaultPoolId ?? '') ?? '',
      allowedCidrs,
      ...(routes.length === 0 ? {} : { routes: routes.map((route) => routeContentOf(route, poolNames)) }),
      ...(tls === null ? {} : { tls }),
      ...(insertHeaders.length === 0 ? {} : { insertHeaders }),
    }),
  )
}

export const sorted = (record: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
