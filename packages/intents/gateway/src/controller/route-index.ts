import { isDeepStrictEqual } from 'node:util'
import type { ParentRef } from '../objects/references.ts'
import type { RouteObject } from '../objects/route.ts'
import { kindOf, ROUTE_KINDS } from '../route-kinds/all.ts'
import { serviceKeyOf } from '../to-model/backends.ts'
import { expressionsOf } from '../to-model/expressions.ts'
import { gatewayOf, listenerSetOf } from '../to-model/listener-parents.ts'
import type { Cluster } from './cluster.ts'

/** The kind of routes that may not share a name with this one; null: none. */
export const rivalOf = (id: string): string | null =>
  ROUTE_KINDS.find(({ kind }) => id.startsWith(`${kind}/`))?.rival ?? null

/** What a route names. */
export interface RouteNames {
  /** `namespace/name` of Gateways, of any class, also of those that its ListenerSets name. */
  readonly gateways: ReadonlySet<string>
  readonly listenerSets: ReadonlySet<string>
  readonly services: ReadonlySet<string>
  /**
   * Its regular expressions, which are bounded for all routes of a Gateway, and what decides on where and in which
   * order it attaches; empty without expressions.
   */
  readonly expressions: string
}

const NOTHING: RouteNames = { gateways: new Set(), listenerSets: new Set(), services: new Set(), expressions: '' }

/** Which routes name a Gateway or a Service, whether those exist or not. */
export class RouteIndex {
  readonly #cluster: Pick<Cluster, 'listenerSet'>
  readonly #names = new Map<string, RouteNames>()
  readonly #seen = new Map<string, RouteObject>()
  readonly #ofGateway = new Map<string, Set<string>>()
  readonly #ofListenerSet = new Map<string, Set<string>>()
  readonly #ofService = new Map<string, Set<string>>()
  /** By kind and Gateway, as `gatewayOfKind` writes them. */
  readonly #ofKind = new Map<string, Set<string>>()

  constructor({ cluster }: { readonly cluster: Pick<Cluster, 'listenerSet'> }) {
    this.#cluster = cluster
  }

  /**
   * @returns what it named before and names now, and whether more than its status and version has changed: what it names
   *   may change with a ListenerSet, too
   */
  put(
    id: string,
    route: RouteObject | undefined,
  ): { readonly before: RouteNames; readonly after: RouteNames; readonly isChanged: boolean } {
    const isOther = isAnother(this.#seen.get(id), route)
    if (route === undefined) this.#seen.delete(id)
    else this.#seen.set(id, route)
    const before = this.of(id)
    const after = route === undefined ? NOTHING : namesOf(route, this.#cluster)
    change(this.#ofGateway, id, before.gateways, after.gateways)
    change(this.#ofListenerSet, id, before.listenerSets, after.listenerSets)
    change(this.#ofService, id, before.services, after.services)
    const [kind = ''] = id.split('/', 1)
    const ofKind = ({ gateways }: RouteNames) => new Set(gateways.values().map((one) => gatewayOfKind(kind, one)))
    change(this.#ofKind, id, ofKind(before), ofKind(after))
    if (route === undefined) this.#names.delete(id)
    else this.#names.set(id, after)
    return { before, after, isChanged: isOther || !isDeepStrictEqual(before.gateways, after.gateways) }
  }

  of(id: string): RouteNames {
    return this.#names.get(id) ?? NOTHING
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

  /** Other routes of the Gateway that may want a listener which the route has, or had, for itself. */
  rivalsAt(gateway: string, id: string): readonly string[] {
    const kind = id.slice(0, id.indexOf('/') + 1)
    const isAlone = ROUTE_KINDS.some((one) => one.isAlone && kind === `${one.kind}/`)
    return isAlone ? this.ofGateway(gateway).filter((other) => other !== id && other.startsWith(kind)) : []
  }

  /** A copy, since routes may be put while it is read. */
  ofListenerSet(set: string): readonly string[] {
    return [...(this.#ofListenerSet.get(set) ?? [])]
  }

  /** Routes of the Gateway that have expressions. */
  withExpressions(gateway: string): readonly string[] {
    return this.ofGateway(gateway).filter((id) => this.of(id).expressions !== '')
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

/** Parts that stay the same are the same objects: the cache of objects shares them. */
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
