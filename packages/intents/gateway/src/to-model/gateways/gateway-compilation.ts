import { uidOf } from '@spout/connector'
import { sameJson } from '@spout/model'
import { MOST_REGEXES } from '@spout/model/regex'
import type { Gateway } from '../../objects/gateway.ts'
import type { RouteObject } from '../../objects/route.ts'
import { kindOf } from '../../route-kinds/all.ts'
import { listenersOf } from '../attachment/attachment.ts'
import { allListeners } from '../listeners/listener-parents.ts'
import {
  type CompiledGateway,
  compiledOf,
  frameOf,
  type GatewayFrame,
  type GatewaySurroundings,
  partsOf,
  withClientCertificate,
} from './compile-gateway.ts'
import type { GatewayParts } from './gateway-parts.ts'
import { partOf, type RoutePart } from './route-part.ts'

/** The parts of a Gateway that may have changed since it was compiled. */
export type StaleParts =
  /** Its endpoints, and these routes by `kind/namespace/name`; empty for the endpoints alone. */
  | ReadonlySet<string>
  /** Everything may have changed. */
  | 'whole'
  | 'nothing'

/** Access to the routes of the cluster. */
export interface RouteSource {
  /** Finds a route by `kind/namespace/name`. */
  readonly get: (id: string) => RouteObject | undefined
  /** The routes that name the Gateway. */
  readonly all: () => readonly RouteObject[]
}

/**
 * Compiles a Gateway incrementally: it keeps the last result and replaces what changed routes brought. The outcome is
 * that of `compileGateway`, but the cost of a changed route does not depend on the number of other routes.
 */
export class GatewayCompilation {
  #last: { readonly frame: GatewayFrame; readonly parts: GatewayParts; readonly compiled: CompiledGateway } | null =
    null

  compile(
    gateway: Gateway,
    stale: StaleParts,
    routes: RouteSource,
    surroundings: GatewaySurroundings,
  ): CompiledGateway {
    const last = this.#last
    const isSame = last !== null && isSameForRoutes(last.frame.gateway, gateway)
    if (isSame && stale === 'nothing') return last.compiled
    const changed = isSame && typeof stale === 'object' ? changedParts(last, stale, routes, surroundings) : null
    const frame = isSame && changed !== null ? last.frame : frameOf(gateway, surroundings)
    const parts =
      last !== null && changed !== null ? exchanged(last.parts, changed) : partsOf(frame, routes.all(), surroundings)
    const compiled = compiledOf(frame, parts, surroundings)
    this.#last = { frame, parts, compiled }
    return compiled
  }
}

interface ChangedParts {
  /** Ids of the routes whose parts are removed. */
  readonly gone: ReadonlySet<string>
  readonly come: readonly RoutePart[]
}

function exchanged(parts: GatewayParts, { gone, come }: ChangedParts): GatewayParts {
  parts.exchange(gone, come)
  return parts
}

/** Compiles the changed routes alone. @returns null when their change may affect other routes */
function changedParts(
  { frame, parts }: { readonly frame: GatewayFrame; readonly parts: GatewayParts },
  stale: ReadonlySet<string>,
  routes: RouteSource,
  surroundings: GatewaySurroundings,
): ChangedParts | null {
  const own = withClientCertificate(frame, surroundings)
  const listeners = allListeners(frame.parents)
  const come: RoutePart[] = []
  for (const id of stale) {
    const [before, route] = [parts.get(id), routes.get(id)]
    if (before !== undefined && hasRivals(before, parts)) return null
    if (route === undefined) continue
    if (hasRivals(route, parts)) return null
    const at = listenersOf(frame.parents, route, surroundings.labelsOf)
    // In the order of the listeners, as in a full compilation.
    const places = listeners.flatMap((one) => {
      const hosts = at.get(one)
      return hosts === undefined ? [] : [[one, hosts] as const]
    })
    come.push(partOf(route, places, own))
  }
  const kinds = new Set(come.map(({ kind }) => kind))
  const isAmongRivals = come.some((one) => kinds.has(kindOf(one).rival ?? ''))
  return isAmongRivals || haveTooManyExpressions(parts, stale, come) ? null : { gone: stale, come }
}

/**
 * Whether the limit on expressions is exceeded, so that this change may refuse or admit expressions of other routes.
 */
function haveTooManyExpressions(parts: GatewayParts, gone: ReadonlySet<string>, come: readonly RoutePart[]): boolean {
  const changed = [...come, ...[...gone].flatMap((id) => parts.get(id) ?? [])]
  return changed.some(({ expressions }) => expressions.size > 0) && parts.expressionsWith(come) > MOST_REGEXES
}

/** Whether the Gateway has routes of the kind that cannot share a host name with this route. */
function hasRivals(one: Pick<RouteObject, 'kind'>, parts: GatewayParts): boolean {
  const { rival } = kindOf(one)
  return rival !== undefined && parts.hasKind(rival)
}

/** Whether the parts of a Gateway that compilation reads are equal. It does not read the status. */
const isSameForRoutes = (a: Gateway, b: Gateway): boolean =>
  uidOf(a) === uidOf(b) &&
  (a.spec === b.spec || sameJson(a.spec, b.spec)) &&
  sameJson(a.metadata.annotations ?? {}, b.metadata.annotations ?? {})
