import {
  type AddressRequest,
  type CertificateSight,
  CLUSTER_ANNOTATION,
  keyOf,
  type ListenerContent,
  type LoadBalancerContent,
  ownerAnnotation,
  type PoolContent,
  type Refusal,
  type RefusedHost,
  type RouteContent,
  type RouteContentInput,
  routeOf,
  sorted,
  uidOf,
} from '@spout/connector'
import { DEFAULT_DRAIN_S, FORWARDED_HEADERS, listenerTls } from '@spout/model'
import type { Gateway } from '../objects/gateway.ts'
import type { ListenerSet } from '../objects/listener-set.ts'
import { byAge, type RouteObject } from '../objects/route.ts'
import type { BackendShare, PlacedRoute } from '../route-kinds/route-kind.ts'
import { addressesOf } from './addresses.ts'
import { backendResolver } from './backend-resolver.ts'
import type { Backend, BackendSurroundings } from './backends.ts'
import { backendCertificateOf } from './certificates.ts'
import { type CompileRoute, compileRoute } from './compiled-routes.ts'
import { dnsNamesOf, type PlacedHosts } from './dns-names.ts'
import { endsTls } from './ends-tls.ts'
import { routesAtListeners } from './gateway-routes.ts'
import { bySpecificity } from './hostnames.ts'
import { allListeners, type JudgedSet, judgeParents, type ListenerSurroundings } from './listener-parents.ts'
import { isUsable, type JudgedListener } from './listeners.ts'
import { hostConditions } from './matches.ts'
import { byPrecedence } from './precedence.ts'
import { sharedPool, sharedPoolNameOf } from './shared-pool.ts'
import { CLOSED_POOL } from './tls-rules.ts'
import { type Objection, objection } from './verdict.ts'

export interface GatewaySurroundings extends BackendSurroundings, ListenerSurroundings {
  /** A ListenerSet by `namespace/name`. */
  readonly listenerSet: (key: string) => ListenerSet | undefined
  /** A pool of this name with the backend's endpoints. */
  readonly poolOf: (name: string, backend: Backend) => PoolContent
  /** The certificate of a Secret by `namespace/name`. */
  readonly certificateOf: (secret: string) => CertificateSight
  readonly cluster: string
  /** Absent: each route is compiled anew. */
  readonly compile?: CompileRoute
  /** Of the project, below which it may have names. */
  readonly domains: readonly string[]
  /** Hosts of a route that the control plane refused at a Gateway, by `namespace/name`. Absent: none. */
  readonly refusedHosts?: (gateway: string, routeUid: string) => readonly RefusedHost[]
}

/** The pool of a route that takes the connections of a listener. */
interface NamedShares {
  readonly pool: string
  readonly shares: readonly BackendShare[]
}

export interface CompiledListener {
  readonly judged: JudgedListener
  /** Routes that are attached, whether their references resolve or not. */
  readonly attachedRoutes: number
}

/** A ListenerSet that names the Gateway. */
export interface CompiledSet extends Pick<JudgedSet, 'set' | 'isAllowed'> {
  readonly listeners: readonly CompiledListener[]
}

export interface CompiledGateway {
  /** Its own. */
  readonly listeners: readonly CompiledListener[]
  readonly sets: readonly CompiledSet[]
  /** Why the Gateway as a whole is not accepted; then there is no content. */
  readonly refused: Objection | null
  /** Null when nothing can be served. */
  readonly wanted: { readonly request: AddressRequest; readonly content: LoadBalancerContent } | null
  /** A reference of the Gateway as a whole that does not resolve. It keeps it from nothing else. */
  readonly unresolved: Objection | null
  /** What is wrong with its names. It keeps it from nothing else. */
  readonly nameNotices: readonly Refusal[]
}

/**
 * The load balancer of a Gateway with its routes, and what its listeners say. Pure; equal input gives equal bytes.
 * @param routes those that name the Gateway
 */
export function compileGateway(
  gateway: Gateway,
  routes: readonly RouteObject[],
  surroundings: GatewaySurroundings,
): CompiledGateway {
  const parents = judgeParents(gateway, surroundings, surroundings)
  const judged = allListeners(parents)
  const { id, unresolved } = backendCertificateOf(gateway, surroundings.grants, surroundings.certificateOf)
  const forBackends = showing(id, surroundings)
  const { compile = compileRoute } = surroundings
  const placed = new Map<JudgedListener, PlacedRoute[]>(judged.map((one) => [one, []]))
  const attached = routesAtListeners(parents, [...routes].sort(byAge), surroundings)
  const backends = new Map<string, Backend>()
  const placedHosts: PlacedHosts[] = []
  const shares = new Map<JudgedListener, NamedShares>()
  for (const [one, own] of attached)
    for (const { route, hosts } of own) {
      if (!isUsable(one)) continue
      placedHosts.push({ route, hosts })
      const compiled = compile(route, hosts, { ...one.listener, name: one.id }, backendResolver(route, forBackends))
      placed.get(one)?.push(...compiled.routes)
      if (compiled.shares !== undefined && !shares.has(one))
        shares.set(one, { pool: sharedPoolNameOf(route), shares: compiled.shares })
      for (const [name, backend] of compiled.backends) backends.set(name, backend)
    }
  const counted = (all: readonly JudgedListener[]) =>
    all.map((one): CompiledListener => ({ judged: one, attachedRoutes: attached.get(one)?.length ?? 0 }))
  const listeners = counted(parents.own.listeners)
  const sets = parents.sets.map((one): CompiledSet => ({ ...one, listeners: counted(one.listeners) }))
  const request = addressesOf(gateway)
  const refused = 'refused' in request ? request.refused : parametersOf(gateway)
  const usable = judged.filter(isUsable)
  // The listeners of sets need a Gateway that is accepted.
  if (refused !== null || 'refused' in request || !parents.own.listeners.some(isUsable))
    return { listeners, sets, refused, wanted: null, unresolved, nameNotices: [] }
  const ports = [...Map.groupBy(usable.toSorted(byPort), portOf).values()]
  const contents = ports.map(
    (own): ListenerContent => ({
      name: own
        .map(({ id }) => id)
        .join(',')
        .slice(0, LONGEST_NAME),
      port: own[0]!.listener.port,
      allowedCidrs: null,
      ...served(own, placed, shares),
    }),
  )
  const names = dnsNamesOf(gateway, usable, placedHosts, surroundings.domains)
  const content: LoadBalancerContent = {
    name: keyOf(gateway).slice(0, LONGEST_NAME),
    annotations: sorted({
      [CLUSTER_ANNOTATION]: surroundings.cluster,
      [ownerAnnotation('gateway', uidOf(gateway))]: keyOf(gateway),
    }),
    pools: [...poolsOf(contents, backends, surroundings), ...sharedPools(shares.values(), surroundings)],
    listeners: contents,
    ...names.published,
  }
  return {
    ...{ listeners, sets, refused: null, unresolved },
    wanted: { request: request.value, content },
    nameNotices: names.notices,
  }
}

const LONGEST_NAME = 255

const byPort = ({ listener: a }: JudgedListener, { listener: b }: JudgedListener): number =>
  a.port - b.port || Number(a.protocol === 'UDP') - Number(b.protocol === 'UDP')
/** TCP and UDP have ports of their own. */
const portOf = ({ listener: { port, protocol } }: JudgedListener): string =>
  `${protocol === 'UDP' ? 'udp' : 'tcp'}/${port}`

/** What the listeners of one port do. They have one protocol; clients get the certificate of the name that they ask for. */
function served(
  listeners: readonly JudgedListener[],
  placed: ReadonlyMap<JudgedListener, readonly PlacedRoute[]>,
  shares: ReadonlyMap<JudgedListener, NamedShares>,
): Omit<ListenerContent, 'name' | 'port' | 'allowedCidrs'> {
  const [first] = listeners
  switch (first?.listener.protocol) {
    case 'TCP':
    case 'UDP': {
      const { pool = '', shares: own = [] } = shares.get(first) ?? {}
      // Without a pool connections are refused.
      return { protocol: first.listener.protocol === 'TCP' ? 'tcp' : 'udp', defaultPool: own.length === 0 ? '' : pool }
    }
    case 'TLS': {
      const routes = routesOf(listeners, placed, closed)
      // The API asks that a connection with a name that no route has is closed; without the last route it would get an alert.
      if (!endsTls(first.listener))
        return { protocol: 'tls-passthrough', defaultPool: '', routes: [...routes, closed('')] }
      return {
        protocol: 'tls',
        // What the members speak is not known, so none is offered (ALPN).
        tls: listenerTls.parse({ certificateIds: certificatesOf(listeners), alpn: [] }),
        defaultPool: '',
        ...(routes.length > 0 && { routes }),
      }
    }
    default: {
      const certificateIds = certificatesOf(listeners)
      // One for all listeners of a port.
      const { clientCertificates = null } = first ?? {}
      return {
        ...(certificateIds.length === 0
          ? { protocol: 'http' }
          : { protocol: 'https', tls: listenerTls.parse({ certificateIds, clientCertificates }) }),
        insertHeaders: [...FORWARDED_HEADERS],
        defaultPool: '',
        routes: [...routesOf(listeners, placed, notFound), notFound('')],
      }
    }
  }
}

/** In the order of the listeners: a client whose name no certificate has gets the first one. */
const certificatesOf = (listeners: readonly JudgedListener[]): string[] => [
  ...new Set(listeners.flatMap((one) => one.certificateIds)),
]

/**
 * The routes of a port: those of the listener with the most specific name first. What no route of a listener takes gets
 * the last one of this listener, and not the routes of a listener with a wider name: listeners are isolated.
 */
function routesOf(
  listeners: readonly JudgedListener[],
  placed: ReadonlyMap<JudgedListener, readonly PlacedRoute[]>,
  last: (host: string) => RouteContent,
): readonly RouteContent[] {
  const ordered = [...listeners].sort((a, b) => bySpecificity(a.host, b.host))
  return ordered.flatMap((one) => [
    ...[...(placed.get(one) ?? [])]
      .sort((a, b) => byPrecedence(a.precedence, b.precedence))
      .map(({ content }) => content),
    ...(one.host === '' ? [] : [last(one.host)]),
  ])
}

const notFound = (host: string): RouteContent => lastRoute(`404/${host}`, host, { type: 'respond', code: 404 })

/** No answer can be given within TLS. */
const closed = (host: string): RouteContent =>
  lastRoute(`closed/${host}`, host, { type: 'forward', pools: [{ pool: CLOSED_POOL, weight: 1 }] })

function lastRoute(name: string, host: string, action: RouteContentInput['action']): RouteContent {
  const made = routeOf({ name, conditions: hostConditions([host]), action }, 'listeners')
  // Listeners with other names are refused before.
  if ('refusal' in made) throw new Error(`${host}: ${made.refusal.message}`)
  return made.value
}

/** A pool for each backend that a route sends to, sorted by name. */
function poolsOf(
  listeners: readonly ListenerContent[],
  backends: ReadonlyMap<string, Backend>,
  { poolOf }: GatewaySurroundings,
): readonly PoolContent[] {
  const used = new Set(
    listeners.flatMap(({ routes = [] }) =>
      routes.flatMap(({ action }) =>
        action.type === 'forward' ? [...action.pools, ...(action.mirrors ?? [])].map(({ pool }) => pool) : [],
      ),
    ),
  )
  return [...used].sort().flatMap((name) => {
    if (name === CLOSED_POOL) return [{ ...EMPTY_POOL, name, protocol: 'tcp-proxy' }]
    const backend = backends.get(name)
    return backend === undefined ? [] : [poolOf(name, backend)]
  })
}

/** A pool for each route that takes the connections of a listener. */
function sharedPools(all: Iterable<NamedShares>, { poolOf }: GatewaySurroundings): readonly PoolContent[] {
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

/** Backends with TLS are shown a certificate of the Gateway. */
function showing(id: string | null, surroundings: GatewaySurroundings): GatewaySurroundings {
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
  return objection('InvalidParameters', 'infrastructure.parametersRef: no kind of parameters is known here.')
}
