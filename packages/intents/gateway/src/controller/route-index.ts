import { isDeepStrictEqual } from 'node:util'
import type { ParentRef } from '../objects/references.ts'
import type { RouteObject } from '../objects/route.ts'
import { kindOf, ROUTE_KINDS } from '../route-kinds/all.ts'
import { expressionsOf } from '../to-model/attachment/expressions.ts'
import { serviceKeyOf } from '../to-model/backends/backends.ts'
import { gatewayOf, listenerSetOf } from '../to-model/listeners/listener-parents.ts'
import type { Cluster } from './cluster.ts'
import { CompetingRoutes } from './competing-routes.ts'

/** The kind of routes that cannot share a host name with this kind; null when there is none. */
export const rivalOf = (id: string): string | null =>
  ROUTE_KINDS.find(({ kind }) => id.startsWith(`${kind}/`))?.rival ?? null

/** The objects that a route names. */
export interface RouteNames {
  /** `namespace/name` of the Gateways that it names, of any class, directly or through a ListenerSet. */
  readonly gateways: ReadonlySet<string>
  readonly listenerSets: ReadonlySet<string>
  readonly services: ReadonlySet<string>
  /**
   * Its regular expressions, and all that decides where it attaches and how old it is, as one text; empty without
   * expressions. The routes of a Gateway share a limit on expressions, so a change of this text can affect younger
   * ones.
   */
  readonly expressions: string
}

const NOTHING: RouteNames = { gateways: new Set(), listenerSets: new Set(), services: new Set(), expressions: '' }

export interface RouteNamesChange {
  readonly before: RouteNames
  readonly after: RouteNames
  /** Whether more than the status and the version has changed. */
  readonly isChanged: boolean
  /** Ids of other routes that may have won or lost a listener. */
  readonly affected: readonly string[]
}

/** Finds routes by the Gateways and Services that they name, whether these exist or not. */
export class RouteIndex {
  readonly #cluster: Pick<Cluster, 'listenerSet'>
  readonly #names = new Map<string, RouteNames>()
  readonly #seen = new Map<string, RouteObject>()
  readonly #ofGateway = new Map<string, Set<string>>()
  /** Routes with expressions, by Gateway. */
  readonly #expressive = new Map<string, Set<string>>()
  readonly #ofListenerSet = new Map<string, Set<string>>()
  readonly #ofService = new Map<string, Set<string>>()
  /** Keys of routes, by kind and Gateway as `gatewayOfKind` writes them. */
  readonly #ofKind = new Map<string, Set<string>>()
  readonly #competing = new CompetingRoutes()

  constructor({ cluster }: { readonly cluster: Pick<Cluster, 'listenerSet'> }) {
    this.#cluster = cluster
  }

  /** Call it also when a ListenerSet that the route names has changed: it decides which Gateway the route names. */
  put(id: string, route: RouteObject | undefined): RouteNamesChange {
    const isOther = isAnother(this.#seen.get(id), route)
    if (route === undefined) this.#seen.delete(id)
    else this.#seen.set(id, route)
    const before = this.of(id)
    const after = route === undefined ? NOTHING : namesOf(route, this.#cluster)
    change(this.#ofGateway, id, before.gateways, after.gateways)
    const expressive = (names: RouteNames) => (names.expressions === '' ? NOTHING.gateways : names.gateways)
    change(this.#expressive, id, expressive(before), expressive(after))
    change(this.#ofListenerSet, id, before.listenerSets, after.listenerSets)
    change(this.#ofService, id, before.services, after.services)
    const [kind = ''] = id.split('/', 1)
    const ofKind = ({ gateways }: RouteNames) => new Set(gateways.values().map((one) => gatewayOfKind(kind, one)))
    change(this.#ofKind, id, ofKind(before), ofKind(after))
    if (route === undefined) this.#names.delete(id)
    else this.#names.set(id, after)
    const affected = this.#competing.put(id, route)
    return { before, after, affected, isChanged: isOther || !isDeepStrictEqual(before.gateways, after.gateways) }
  }

  of(id: string): RouteNames {
    return this.#names.get(id) ?? NOTHING
  }

  get size(): number {
    return this.#names.size
  }

  ids(): Iterable<string> {
    return this.#names.keys()
  }

  /** Sorted, so that equal clusters give equal documents. */
  ofGateway(gateway: string): readonly string[] {
    return [...(this.#ofGateway.get(gateway) ?? [])].sort()
  }

  /** Whether a route of this kind names the Gateway. */
  hasKind(gateway: string, kind: string): boolean {
    return this.#ofKind.has(gatewayOfKind(kind, gateway))
  }

  /** Other routes that may take a listener from this one, for kinds of which a listener serves one route. */
  competingWith(id: string): readonly string[] {
    return this.#competing.of(id)
  }

  /** A copy, because `put` may be called during iteration. */
  ofListenerSet(set: string): readonly string[] {
    return [...(this.#ofListenerSet.get(set) ?? [])]
  }

  /** Routes of the Gateway that have expressions, sorted. */
  withExpressions(gateway: string): readonly string[] {
    return [...(this.#expressive.get(gateway) ?? [])].sort()
  }

  ofService(service: string): Iterable<string> {
    return this.#ofService.get(service) ?? []
  }
}

const gatewayOfKind = (kind: string, gateway: string): string => `${kind}/${gateway}`

function namesOf(route: RouteObject, cluster: Pick<Cluster, 'listenerSet'>): RouteNames {
  const { namespace = '' } = route.metadata
  const refs = route.spec.parentRefs ?? []
  const gatewayAt = (ref: ParentRef) => gatewayOf(ref, namespace, (key) => cluster.listenerSet(key))
  return {
    gateways: new Set(refs.flatMap((ref) => gatewayAt(ref) ?? [])),
    listenerSets: new Set(refs.flatMap((ref) => listenerSetOf(ref, namespace) ?? [])),
    services: new Set(
      kindOf(route)
        .backendRefsOf(route)
        .flatMap((ref) => serviceKeyOf(ref, namespace) ?? []),
    ),
    expressions: placeAmongExpressions(route),
  }
}

function placeAmongExpressions(route: RouteObject): string {
  const expressions = [...expressionsOf(route)].sort()
  const { parentRefs, hostnames } = route.spec as { readonly parentRefs?: unknown; readonly hostnames?: unknown }
  return expressions.length === 0 ? '' : JSON.stringify([expressions, route.metadata.uid, parentRefs, hostnames])
}

/** Compares by identity where possible: the object cache keeps unchanged parts as the same objects. */
const isAnother = (before: RouteObject | undefined, after: RouteObject | undefined): boolean =>
  before === undefined ||
  after === undefined ||
  before.spec !== after.spec ||
  before.metadata.uid !== after.metadata.uid ||
  before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
  before.metadata.annotations !== after.metadata.annotations

function change(
  index: Map<string, Set<string>>,
  route: string,
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
): void {
  for (const name of before) {
    if (after.has(name)) continue
    const routes = index.get(name)
    routes?.delete(route)
    if (routes?.size === 0) index.delete(name)
  }
  for (const name of after) index.set(name, (index.get(name) ?? new Set()).add(route))
}
