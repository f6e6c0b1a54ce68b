import { isDeepStrictEqual } from 'node:util'
import type { LoadBalancerChange } from '@spout/admission/contract'
import { goesByServerName, type HttpRoute, type Listener, type LoadBalancer, type Pool, poolIdsOf } from '@spout/model'
import { policyFacts, routesOf, unfoldPolicies } from '../conversion/convert-l7policy.ts'
import {
  foldHeaders,
  hasDefaultTimeouts,
  headersOff,
  PLAIN_LISTENER_PROTOCOL,
  unfoldHeaders,
} from '../conversion/convert-listener.ts'
import { foldMonitor, type MonitorFacts, unfoldMonitor } from '../conversion/convert-monitor.ts'
import { foldPersistence, PLAIN_POOL_PROTOCOL, unfoldPersistence } from '../conversion/convert-pool.ts'
import { foldPoolTls, unfoldPoolTls } from '../conversion/convert-pool-tls.ts'
import { certificateId, foldTls, unfoldTls } from '../conversion/convert-tls.ts'
import { type Fact, type FactName, factOf, withFacts } from '../terms/facts.ts'
import type { Graph, OctaviaListener, OctaviaMonitor, OctaviaPool } from '../terms/octavia-resources.ts'
import { isOneOf, LISTENER_PROTOCOLS, OFFERED_POOL_PROTOCOLS } from '../terms/words.ts'
import { unsupportedOption } from '../wire/fault.ts'
import { listenerReferences, poolReferences } from './references.ts'

type Children = Pick<LoadBalancer, 'listeners' | 'pools' | 'annotations'>

/** The children as Octavia's API has them. */
export function unfoldGraph({ listeners, pools, annotations }: Children): Graph {
  const word = <T extends string>(id: string, words: readonly T[], plain: T): T => {
    const said = factOf(annotations, id, 'protocol') ?? plain
    return isOneOf(words)(said) ? said : plain
  }
  const referenceOf = (id: string): string => factOf(annotations, id, 'ref') ?? id
  return {
    listeners: listeners.map((model) => ({
      model,
      protocol: word(model.id, LISTENER_PROTOCOLS, PLAIN_LISTENER_PROTOCOL[model.protocol]),
      insertHeaders: unfoldHeaders(
        model.insertHeaders,
        factOf(annotations, model.id, 'insert_headers')?.split(',') ?? [],
      ),
      tls: unfoldTls(model.tls, referenceOf),
      policies: unfoldPolicies(model.routes, annotations).policies,
    })),
    pools: pools.map((model) => ({
      model,
      protocol: word(model.id, OFFERED_POOL_PROTOCOLS, PLAIN_POOL_PROTOCOL[model.protocol]),
      tls: unfoldPoolTls(model.tls, referenceOf),
      persistence: unfoldPersistence(model.persistence),
      monitor: model.monitor && unfoldMonitor(model.monitor, monitorFacts(annotations, model.monitor.id)),
    })),
  }
}

/**
 * Converts the children back to the model. The model protocol of a listener and its pool depends on both, so every
 * change converts the whole graph.
 * @throws OctaviaFault for what Octavia refuses or what is not supported here
 */
export function foldGraph(
  graph: Graph,
  annotations: LoadBalancer['annotations'],
): Required<Pick<LoadBalancerChange, 'listeners' | 'pools' | 'annotations'>> {
  const proxied = proxiedPools(graph)
  const users = usersOf(graph)
  const listeners = graph.listeners.map((listener) =>
    sameIfEqual(listener.model, {
      protocol: listenerProtocol(listener, proxied),
      insertHeaders: foldHeaders(listener),
      tls: foldTls(listener),
      routes: foldRoutes(listener, annotations),
    }),
  )
  const pools = graph.pools.map((pool) =>
    sameIfEqual(withTls(pool.model, foldPoolTls(pool)), {
      protocol: poolProtocol(pool, users.get(pool.model.id) ?? [], proxied),
      persistence: foldPersistence(pool),
      monitor: pool.monitor && foldMonitor(pool.monitor),
    }),
  )
  return { listeners, pools, annotations: withFacts(annotations, factsOf(graph, listeners, pools)) }
}

/** Routes that were not made from policies stay, behind those that were. */
function foldRoutes({ model, policies }: OctaviaListener, annotations: LoadBalancer['annotations']): HttpRoute[] {
  const { others } = unfoldPolicies(model.routes, annotations)
  const kept = new Map(model.routes.map((route) => [route.id, route]))
  // Where nothing differs, the old objects are returned, so that admission need not check them again.
  const made = routesOf(policies).map((route) => {
    const before = kept.get(route.id)
    return before !== undefined && isDeepStrictEqual(before, route) ? before : route
  })
  return [...made, ...others]
}

/** Sets the field `tls`, which a pool without TLS does not have. */
function withTls(model: Pool, tls: Pool['tls']): Pool {
  if (isDeepStrictEqual(model.tls, tls)) return model
  const { tls: _, ...others } = model
  return tls === undefined ? others : { ...others, tls }
}

/** Returns the old object when nothing differs, so that admission need not check it again. */
const sameIfEqual = <T extends object>(model: T, folded: Partial<T>): T =>
  Object.entries(folded).every(([name, value]) => isDeepStrictEqual(value, Reflect.get(model, name)))
    ? model
    : { ...model, ...folded }

const monitorFacts = (annotations: Children['annotations'], id: string): MonitorFacts => {
  const delay = factOf(annotations, id, 'delay')
  return {
    explicitVersion: factOf(annotations, id, 'http_version') !== null,
    delaySeconds: delay === null ? null : Number(delay),
  }
}

/** The listeners that forward to each pool, by default or by a policy. */
function usersOf(graph: Graph): ReadonlyMap<string, readonly OctaviaListener[]> {
  const uses = graph.listeners.flatMap((listener) =>
    [listener.model.defaultPoolId, ...listener.policies.map(({ redirectPoolId }) => redirectPoolId)].flatMap((id) =>
      id === null ? [] : [{ id, listener }],
    ),
  )
  return new Map(
    [...Map.groupBy(uses, ({ id }) => id)].map(([id, all]) => [id, [...new Set(all.map(({ listener }) => listener))]]),
  )
}

const needsProxy = (listener: OctaviaListener, pool: OctaviaPool | undefined): boolean =>
  !hasDefaultTimeouts(listener.model) ||
  pool?.protocol === 'PROXY' ||
  pool?.protocol === 'PROXYV2' ||
  pool?.model.algorithm === 'least-connections'

/**
 * The pools that need the L7 proxy. They use TLS to their members, or serve listeners that choose by the server name
 * that clients send, or have a TCP listener that needs what packet forwarding cannot do: PROXY protocol to the members,
 * time-outs, or least connections. All TCP listeners of such a pool are proxied.
 */
function proxiedPools(graph: Graph): ReadonlySet<string> {
  const pools = new Map(graph.pools.map((pool) => [pool.model.id, pool]))
  return new Set([
    ...graph.pools.flatMap(({ tls, model }) => (tls.enabled ? [model.id] : [])),
    ...graph.listeners.flatMap(({ model }) => (goesByServerName(model.protocol) ? poolIdsOf(model) : [])),
    ...graph.listeners.flatMap((listener) => {
      const id = listener.model.defaultPoolId
      return id !== null && isStream(listener) && needsProxy(listener, pools.get(id)) ? [id] : []
    }),
  ])
}

const isStream = ({ protocol, model }: OctaviaListener): boolean =>
  protocol === 'TCP' || protocol === 'HTTPS' || model.protocol === 'tls'

function listenerProtocol(listener: OctaviaListener, proxied: ReadonlySet<string>): Listener['protocol'] {
  switch (listener.protocol) {
    case 'HTTP':
      return 'http'
    case 'TERMINATED_HTTPS':
      // Octavia only has a protocol name for terminated TLS with HTTP.
      return listener.model.protocol === 'tls' ? 'tls' : 'https'
    case 'UDP':
      return 'udp'
    case 'SCTP':
      return 'sctp'
    case 'PROMETHEUS':
      return 'metrics'
    case 'TCP':
    case 'HTTPS':
      // Octavia has no protocol name for it. Its HTTPS passes TLS on, too.
      if (listener.model.protocol === 'tls-passthrough') return 'tls-passthrough'
      return !hasDefaultTimeouts(listener.model) || proxied.has(listener.model.defaultPoolId ?? '')
        ? 'tcp-proxy'
        : 'tcp'
  }
}

function poolProtocol(
  pool: OctaviaPool,
  users: readonly OctaviaListener[],
  proxied: ReadonlySet<string>,
): Pool['protocol'] {
  if (users.some(isStream) && !users.every(isStream))
    throw unsupportedOption(`default_pool_id: pool ${pool.model.id} cannot serve an HTTP and a TCP listener at once`)
  switch (pool.protocol) {
    case 'UDP':
      return 'udp'
    case 'SCTP':
      return 'sctp'
    case 'PROXY':
      return 'tcp-proxy-v1'
    case 'PROXYV2':
      return 'tcp-proxy-v2'
    case 'HTTP':
      if (!users.some(isStream)) return 'http'
      return proxied.has(pool.model.id) ? 'tcp-proxy' : 'tcp'
    case 'TCP':
    case 'HTTPS':
      return proxied.has(pool.model.id) ? 'tcp-proxy' : 'tcp'
  }
}

const monitorFactsOf = ({
  model: { id },
  httpVersion,
  delaySeconds,
  timeoutSeconds,
}: OctaviaMonitor): readonly Fact[] => [
  ...(httpVersion === 1 ? [{ id, name: 'http_version' as const, value: '1.0' }] : []),
  ...(delaySeconds < timeoutSeconds ? [{ id, name: 'delay' as const, value: String(delaySeconds) }] : []),
]

function factsOf(graph: Graph, listeners: readonly Listener[], pools: readonly Pool[]): readonly Fact[] {
  const fact = (id: string, name: FactName, value: string | null | undefined): readonly Fact[] =>
    value === null || value === undefined || value === '' ? [] : [{ id, name, value }]
  const unless = (word: string, plain: string | undefined): string | null => (word === plain ? null : word)
  return [
    ...graph.listeners.flatMap((listener, index) => {
      const plain = PLAIN_LISTENER_PROTOCOL[listeners[index]?.protocol ?? 'tcp']
      return [
        ...fact(listener.model.id, 'protocol', unless(listener.protocol, plain)),
        ...fact(listener.model.id, 'insert_headers', headersOff(listener).join(',')),
        ...policyFacts(listener.policies),
      ]
    }),
    ...graph.pools.flatMap((pool, index) => [
      ...fact(pool.model.id, 'protocol', unless(pool.protocol, PLAIN_POOL_PROTOCOL[pools[index]?.protocol ?? 'tcp'])),
      ...(pool.monitor === null ? [] : monitorFactsOf(pool.monitor)),
    ]),
    ...[...graph.listeners.flatMap(listenerReferences), ...graph.pools.flatMap(poolReferences)].flatMap((ref) => {
      const id = certificateId(ref)
      return fact(id, 'ref', unless(ref, id))
    }),
  ]
}
