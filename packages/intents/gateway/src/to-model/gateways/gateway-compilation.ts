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
  showing,
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

/** The routes of the cluster. */
export interface RouteSource {
  /** Finds a route by `kind/namespace/name`. */
  readonly get: (id: string) => RouteObject | undefined
  /** The routes that name the Gateway. */
  readonly all: () => readonly RouteObject[]
}

/**
 * A Gateway as it was compiled last, which gives what \`compileGateway\` would: a route that changed costs what it
 * costs itself, however many others there are.
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
  readonly gone: ReadonlySet<string>
  readonly come: readonly RoutePart[]
}

function exchanged(parts: GatewayParts, { gone, come }: ChangedParts): GatewayParts {
  parts.exchange(gone, come)
  return parts
}

/** Null where a change of one route may affect other routes. */
function changedParts(
  { frame, parts }: { readonly frame: GatewayFrame; readonly parts: GatewayParts },
  stale: ReadonlySet<string>,
  routes: RouteSource,
  surroundings: GatewaySurroundings,
): ChangedParts | null {
  const own = showing(frame, surroundings)
  const listeners = allListeners(frame.parents)
  const come: RoutePart[] = []
  for (const id of stale) {
    const [before, route] = [parts.get(id), routes.get(id)]
    if (before !== undefined && hasRivals(before, parts)) return null
    if (route === undefined) continue
    if (hasRivals(route, parts)) return null
    const at = listenersOf(frame.parents, route, surroundings.labelsOf)
    // In the order of the listeners, as a full compilation has them.
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

/** Whether there are too many expressions, so that one of another route may be refused, or admitted. */
function haveTooManyExpressions(parts: GatewayParts, gone: ReadonlySet<string>, come: readonly RoutePart[]): boolean {
  const changed = [...come, ...[...gone].flatMap((id) => parts.get(id) ?? [])]
  return changed.some(({ expressions }) => expressions.size > 0) && parts.expressionsWith(come) > MOST_REGEXES
}

/** Whether it is one of those of which a listener takes not all, by their host names. */
function hasRivals(one: Pick<RouteObject, 'kind'>, parts: GatewayParts): boolean {
  const { rival } = kindOf(one)
  return rival !== undefined && parts.hasKind(rival)
}

/** Whether nothing that is compiled differs. The status is not compiled. */
const isSameForRoutes = (a: Gateway, b: Gateway): boolean =>
  uidOf(a) === uidOf(b) &&
  (a.spec === b.spec || sameJson(a.spec, b.spec)) &&
  sameJson(a.metadata.annotations ?? {}, b.metadata.annotations ?? {})
