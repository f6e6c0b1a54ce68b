import { keyOf } from '@spout/connector'
import type { HttpRouteObject, HttpRouteRule } from '../objects/http-route.ts'
import type { BackendRef } from '../objects/references.ts'
import { gatewayOf } from '../to-model/attachment.ts'
import { serviceKeyOf } from '../to-model/backends.ts'

/** What a route names. */
export interface RouteNames {
  /** `namespace/name` of Gateways, of any class. */
  readonly gateways: ReadonlySet<string>
  readonly services: ReadonlySet<string>
}

const NOTHING: RouteNames = { gateways: new Set(), services: new Set() }

/** Which routes name a Gateway or a Service, whether those exist or not. */
export class RouteIndex {
  readonly #names = new Map<string, RouteNames>()
  readonly #ofGateway = new Map<string, Set<string>>()
  readonly #ofService = new Map<string, Set<string>>()

  /** @returns what it named before and names now */
  put(key: string, route: HttpRouteObject | undefined): { readonly before: RouteNames; readonly after: RouteNames } {
    const before = this.of(key)
    const after = route === undefined ? NOTHING : namesOf(route)
    change(this.#ofGateway, key, before.gateways, after.gateways)
    change(this.#ofService, key, before.services, after.services)
    if (route === undefined) this.#names.delete(key)
    else this.#names.set(key, after)
    return { before, after }
  }

  of(key: string): RouteNames {
    return this.#names.get(key) ?? NOTHING
  }

  keys(): Iterable<string> {
    return this.#names.keys()
  }

  /** Sorted, so that equal clusters give equal documents. */
  ofGateway(gateway: string): readonly string[] {
    return [...(this.#ofGateway.get(gateway) ?? [])].sort()
  }

  ofService(service: string): Iterable<string> {
    return this.#ofService.get(service) ?? []
  }
}

function namesOf(route: HttpRouteObject): RouteNames {
  const [namespace = ''] = keyOf(route).split('/')
  const { parentRefs = [], rules = [] } = route.spec
  return {
    gateways: new Set(parentRefs.flatMap((ref) => gatewayOf(ref, namespace) ?? [])),
    services: new Set(rules.flatMap(refsOf).flatMap((ref) => serviceKeyOf(ref, namespace) ?? [])),
  }
}

const refsOf = ({ backendRefs = [], filters = [] }: HttpRouteRule): readonly BackendRef[] => [
  ...backendRefs,
  ...[...filters, ...backendRefs.flatMap((ref) => ref.filters ?? [])].flatMap(
    ({ requestMirror }) => requestMirror?.backendRef ?? [],
  ),
]

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
