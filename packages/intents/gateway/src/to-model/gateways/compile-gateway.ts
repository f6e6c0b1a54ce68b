import {
  type AddressRequest,
  type BackendPool,
  type CertificateSight,
  CLASS_ANNOTATION,
  CLUSTER_ANNOTATION,
  keyOf,
  type LoadBalancerContent,
  ownerAnnotation,
  type PoolContent,
  type Refusal,
  type RefusedHost,
  shown,
  someEndpointsLeftOut,
  sorted,
  uidOf,
} from '@spout/connector'
import { DEFAULT_DRAIN_S } from '@spout/model'
import type { Gateway } from '../../objects/gateway.ts'
import type { ListenerSet } from '../../objects/listener-set.ts'
import type { RouteObject } from '../../objects/route.ts'
import { routesAtListeners } from '../attachment/gateway-routes.ts'
import type { Backend, BackendSurroundings } from '../backends/backends.ts'
import { type Objection, objection } from '../fields/objection.ts'
import { backendCertificateOf } from '../listeners/certificates.ts'
import { closesConnections, listenerContents, type NamedShares } from '../listeners/listener-contents.ts'
import {
  allListeners,
  type JudgedParents,
  type JudgedSet,
  judgeParents,
  type ListenerSurroundings,
} from '../listeners/listener-parents.ts'
import { isUsable, type JudgedListener } from '../listeners/listeners.ts'
import { sharedPool } from '../rules/shared-pool.ts'
import { CLOSED_POOL } from '../rules/tls-rules.ts'
import { addressesOf } from './addresses.ts'
import type { CompileRoute } from './compiled-routes.ts'
import { dnsNamesOf } from './dns-names.ts'
import { GatewayParts } from './gateway-parts.ts'
import { infrastructureOf } from './infrastructure.ts'
import { partOf } from './route-part.ts'
import { withinLimit } from './within-limit.ts'

/** The facts about the cluster and the project by which a Gateway is compiled. */
export interface GatewaySurroundings extends BackendSurroundings, ListenerSurroundings {
  /** A ListenerSet by `namespace/name`. */
  readonly listenerSet: (key: string) => ListenerSet | undefined
  /** Makes a pool of this name with the backend's endpoints. */
  readonly poolOf: (name: string, backend: Backend) => BackendPool
  /** The certificate of a Secret by `namespace/name`. */
  readonly certificateOf: (secret: string) => CertificateSight
  readonly cluster: string
  /** The class of load balancers that a Gateway's class names; null for none. Left out: no class names one. */
  readonly loadBalancerClassOf?: (gateway: Gateway) => string | null
  /** Compiles a route, possibly from a cache. Absent: each route is compiled anew. */
  readonly compile?: CompileRoute
  /** The domains of the project: its host names must be below one of them. */
  readonly domains: readonly string[]
  /** Hosts of a route that the control plane refused at a Gateway, by `namespace/name`. Absent: none. */
  readonly refusedHosts?: (gateway: string, routeUid: string) => readonly RefusedHost[]
  /** Why the project's quota has no room for a route; null when it has. Left out: it has room for all. */
  readonly tooMuch?: (gateway: string, routeUid: string) => string | null
}

export interface CompiledListener {
  readonly judged: JudgedListener
  /** Number of attached routes, whether or not their references resolve. */
  readonly attachedRoutes: number
}

/** A ListenerSet that names the Gateway, whether or not the Gateway allows it. */
export interface CompiledSet extends Pick<JudgedSet, 'set' | 'isAllowed'> {
  readonly listeners: readonly CompiledListener[]
}

export interface CompiledGateway {
  /** The Gateway's own listeners. */
  readonly listeners: readonly CompiledListener[]
  readonly sets: readonly CompiledSet[]
  /** Why the Gateway as a whole is not accepted; then there is no content. */
  readonly refused: Objection | null
  /** Null when nothing can be served. */
  readonly wanted: { readonly request: AddressRequest; readonly content: LoadBalancerContent } | null
  /** Why a reference of the Gateway itself does not resolve. The Gateway is served nevertheless. */
  readonly unresolved: Objection | null
  /** Problems with its DNS names. The Gateway is served nevertheless. */
  readonly nameNotices: readonly Refusal[]
  /** The pools that have no room for all endpoints. The Gateway is served nevertheless. */
  readonly crowded: readonly Refusal[]
  /** UIDs of the routes that are left out, because a listener would have too many. */
  readonly beyond: ReadonlySet<string>
}

/** What is worked out of a Gateway before its routes: a change of routes alone keeps it. */
export interface GatewayFrame {
  readonly gateway: Gateway
  readonly parents: JudgedParents
  /** Id of the client certificate for backends; null for none. */
  readonly backendCertificateId: string | null
  readonly unresolved: Objection | null
  readonly request: ReturnType<typeof addressesOf>
}

export function frameOf(gateway: Gateway, surroundings: GatewaySurroundings): GatewayFrame {
  const { id, unresolved } = backendCertificateOf(gateway, surroundings.grants, surroundings.certificateOf)
  return {
    ...{ gateway, parents: judgeParents(gateway, surroundings, surroundings) },
    ...{ backendCertificateId: id, unresolved, request: addressesOf(gateway) },
  }
}

/**
 * Compiles a Gateway with its routes to a load balancer, and judges its listeners. Pure: equal input gives equal bytes.
 * @param routes the routes that name the Gateway
 */
export function compileGateway(
  gateway: Gateway,
  routes: readonly RouteObject[],
  surroundings: GatewaySurroundings,
): CompiledGateway {
  const frame = frameOf(gateway, surroundings)
  return compiledOf(frame, partsOf(frame, routes, surroundings), surroundings)
}

/** Compiles all routes. @param routes the routes that name the Gateway */
export function partsOf(
  frame: GatewayFrame,
  routes: readonly RouteObject[],
  surroundings: GatewaySurroundings,
): GatewayParts {
  const at = new Map<RouteObject, [JudgedListener, readonly string[]][]>()
  for (const [listener, own] of routesAtListeners(frame.parents, routes, surroundings))
    for (const { route, hosts } of own) at.set(route, [...(at.get(route) ?? []), [listener, hosts]])
  const parts = new GatewayParts()
  const forBackends = withClientCertificate(frame, surroundings)
  parts.exchange(
    new Set(),
    routes.map((route) => partOf(route, at.get(route) ?? [], forBackends)),
  )
  return parts
}

/** Puts the load balancer together. @param parts the routes, compiled with the same frame */
export function compiledOf(
  { gateway, parents, request, unresolved }: GatewayFrame,
  parts: GatewayParts,
  surroundings: GatewaySurroundings,
): CompiledGateway {
  const counted = (all: readonly JudgedListener[]) =>
    all.map((one): CompiledListener => ({ judged: one, attachedRoutes: parts.attachedAt(one) }))
  const listeners = counted(parents.own.listeners)
  const sets = parents.sets.map((one): CompiledSet => ({ ...one, listeners: counted(one.listeners) }))
  const refused = 'refused' in request ? request.refused : parametersOf(gateway)
  // A Gateway without a usable listener of its own is not accepted, and then its ListenerSets are not served either.
  if (refused !== null || 'refused' in request || !parents.own.listeners.some(isUsable))
    return { listeners, sets, refused, wanted: null, unresolved, nameNotices: [], crowded: [], beyond: new Set() }
  const usable = allListeners(parents).filter(isUsable)
  const names = dnsNamesOf(gateway, usable, parts.names(), surroundings.domains)
  const { listeners: contents, beyond, unused } = withinLimit(listenerContents(usable, parts), () => parts.objects())
  const pools = [...poolsOf(usable, parts, surroundings), ...sharedPools(parts.allShares(), surroundings)].filter(
    ({ pool }) => !unused.has(pool.name),
  )
  const { tags, annotations } = infrastructureOf(gateway)
  const loadBalancerClass = surroundings.loadBalancerClassOf?.(gateway) ?? null
  const content: LoadBalancerContent = {
    name: keyOf(gateway).slice(0, LONGEST_NAME),
    ...(tags && { tags }),
    annotations: sorted({
      ...annotations,
      [CLUSTER_ANNOTATION]: surroundings.cluster,
      ...(loadBalancerClass !== null && { [CLASS_ANNOTATION]: loadBalancerClass }),
      [ownerAnnotation('gateway', uidOf(gateway))]: keyOf(gateway),
    }),
    pools: pools.map(({ pool }) => pool),
    listeners: contents,
    ...names.published,
  }
  return {
    ...{ listeners, sets, refused: null, unresolved },
    wanted: { request: { ...request.value, ...(loadBalancerClass !== null && { loadBalancerClass }) }, content },
    nameNotices: names.notices,
    beyond,
    crowded: pools.flatMap(({ pool: { name, protocol }, leftOut }) =>
      leftOut === 0 ? [] : [someEndpointsLeftOut(shown(name), protocol, 'spec')],
    ),
  }
}

const LONGEST_NAME = 255

/**
 * A pool for each backend that a route sends to, sorted by name, and the pool that closes connections where one is
 * needed.
 */
function poolsOf(
  usable: readonly JudgedListener[],
  parts: GatewayParts,
  { poolOf }: GatewaySurroundings,
): readonly BackendPool[] {
  const isClosed = parts.poolNames.includes(CLOSED_POOL) || !usable.some(closesConnections)
  const names = isClosed ? parts.poolNames : [...parts.poolNames, CLOSED_POOL].sort()
  return names.flatMap((name) => {
    if (name === CLOSED_POOL) return [{ pool: { ...EMPTY_POOL, name, protocol: 'tcp-proxy' }, leftOut: 0 }]
    const backend = parts.backend(name)
    return backend === undefined ? [] : [poolOf(name, backend)]
  })
}

/** A pool for each route that takes all connections of a listener. */
function sharedPools(all: Iterable<NamedShares>, { poolOf }: GatewaySurroundings): readonly BackendPool[] {
  const byName = new Map([...all].map(({ pool, shares }) => [pool, shares]))
  return [...byName]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, shares]) => sharedPool(name, shares, poolOf) ?? [])
}

const EMPTY_POOL: Omit<PoolContent, 'name'> = {
  protocol: 'http',
  persistence: null,
  panicThreshold: 10,
  drainSeconds: DEFAULT_DRAIN_S,
  members: [],
  monitor: null,
}

/** Adds the Gateway's client certificate to the TLS settings of backends. */
export function withClientCertificate(
  { backendCertificateId: id }: GatewayFrame,
  surroundings: GatewaySurroundings,
): GatewaySurroundings {
  const { tlsOf } = surroundings
  if (id === null || tlsOf === undefined) return surroundings
  return {
    ...surroundings,
    tlsOf: (service, portName) => {
      const tls = tlsOf(service, portName)
      return tls && { ...tls, clientCertificateId: id }
    },
  }
}

function parametersOf({ spec }: Gateway): Objection | null {
  if (spec.infrastructure?.parametersRef === undefined) return null
  return objection('InvalidParameters', 'infrastructure.parametersRef: no kind of parameters is supported.')
}
