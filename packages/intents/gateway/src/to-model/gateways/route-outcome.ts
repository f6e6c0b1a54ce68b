import { keyOf, type RefusedHost, shown, uidOf } from '@spout/connector'
import type { Gateway } from '../../objects/gateway.ts'
import type { ParentRef } from '../../objects/references.ts'
import { byAge, type RouteObject, routeIdOf } from '../../objects/route.ts'
import { kindOf } from '../../route-kinds/all.ts'
import { type AttachedListener, attach, attachingRouteOf, listenersOf } from '../attachment/attachment.ts'
import { allAtListeners, tooManyExpressions } from '../attachment/gateway-routes.ts'
import { rivalsRefused } from '../attachment/rivals.ts'
import { type Objection, objection } from '../fields/objection.ts'
import { gatewayOf, type JudgedParents, judgeParents, parentOf } from '../listeners/listener-parents.ts'
import { backendResolver } from './backend-resolver.ts'
import type { GatewaySurroundings } from './compile-gateway.ts'
import { compileRoute } from './compiled-routes.ts'

/** The outcome of a route's attachment to one of our Gateways. */
export interface ParentOutcome {
  readonly ref: ParentRef
  /** Why it is not attached. */
  readonly refused: Objection | null
  /** Why some of its rules or hosts are dropped. */
  readonly partly: Objection | null
  /** The first backend reference that does not resolve. */
  readonly unresolved: Objection | null
  /** Why it gets no traffic at some listener although it is accepted; empty when it does at all. */
  readonly idle: string
}

/**
 * The outcome of a route at each of our Gateways and ListenerSets that it names. Pure.
 * @param gatewayAt a Gateway of ours by `namespace/name`
 * @param competing the routes that may take a listener from this one, if its kind takes whole listeners; more do no
 * harm
 * @param besideRivals all routes that name a Gateway if one of them is of the rival kind, else none
 * @param withExpressions the routes of a Gateway that have regular expressions; more do no harm
 */
export function routeOutcomes(
  route: RouteObject,
  gatewayAt: (key: string) => Gateway | null,
  surroundings: Pick<
    GatewaySurroundings,
    | 'labelsOf'
    | 'service'
    | 'grants'
    | 'tlsOf'
    | 'compile'
    | 'refusedHosts'
    | 'tooMuch'
    | 'listenerSet'
    | 'listenerSetsOf'
  >,
  competing: () => readonly RouteObject[],
  besideRivals: (gateway: string, rival: string) => readonly RouteObject[],
  withExpressions: (gateway: string) => readonly RouteObject[] = competing,
): readonly ParentOutcome[] {
  const attaching = attachingRouteOf(route)
  const resolve = backendResolver(route, surroundings)
  const { compile = compileRoute } = surroundings
  return (route.spec.parentRefs ?? []).flatMap((ref): readonly ParentOutcome[] => {
    const key = gatewayOf(ref, attaching.namespace, surroundings.listenerSet)
    const gateway = key === null ? null : gatewayAt(key)
    if (key === null || gateway === null || keyOf(gateway) !== key) return []
    const parents = judgeParents(gateway, surroundings)
    const parent = parentOf(ref, attaching.namespace, parents)
    if (parent === undefined) return []
    const attached = attach(attaching, ref, parent, surroundings.labelsOf)
    const { listeners, refused: kept } = withoutRivals(route, attached, (rival) =>
      allAtListeners(parents, besideRivals(key, rival), surroundings),
    )
    const refused = kept ?? tooManyExpressions(route, parents, () => withExpressions(key), surroundings)
    const [first] = listeners
    const { listener } = first?.judged ?? { listener: { name: '', protocol: 'HTTP', port: 80 } }
    const { routes, dropped, unresolved } = compile(route, first?.hosts ?? [''], listener, resolve)
    const partly = droppedRules(dropped, routes.length === 0)
    const idle = kindOf(route).takesWholeListener
      ? idleAt(listeners, route, parents, competing(), surroundings.labelsOf)
      : ''
    const ofHosts = refusedHostsOf(surroundings.refusedHosts?.(key, uidOf(route)) ?? [], listeners)
    const tooMuch = surroundings.tooMuch?.(key, uidOf(route)) ?? null
    const ofQuota = tooMuch === null ? null : objection('OverQuota', `not served: ${tooMuch}`)
    const whole = refused ?? partly.refused ?? ofHosts.refused ?? ofQuota
    return [
      { ref, refused: whole, partly: whole === null ? (partly.partly ?? ofHosts.partly) : null, unresolved, idle },
    ]
  })
}

/** The objection to hosts that the control plane refused. A route is not accepted when all its hosts are refused. */
function refusedHostsOf(
  hosts: readonly RefusedHost[],
  listeners: readonly AttachedListener[],
): { readonly refused: Objection | null; readonly partly: Objection | null } {
  const [first] = hosts
  if (first === undefined) return { refused: null, partly: null }
  const names = new Set(hosts.map(({ host }) => host))
  const isWhole = listeners.every((one) => one.hosts.every((host) => names.has(host)))
  const list = [...names].slice(0, MOST_HOSTS_SHOWN).map(shown).join(', ')
  const more = names.size > MOST_HOSTS_SHOWN ? `, and ${names.size - MOST_HOSTS_SHOWN} more` : ''
  const said = objection('HostNotAllowed', `spec.hostnames: not served: ${list}${more}: ${first.reason}.`)
  return isWhole ? { refused: said, partly: null } : { refused: null, partly: said }
}

const MOST_HOSTS_SHOWN = 10

/**
 * The attachment without listeners at which an older route of the rival kind has one of the route's hosts. It is
 * refused when no listener remains.
 * @param atListeners all routes at each listener
 */
function withoutRivals(
  route: RouteObject,
  attached: ReturnType<typeof attach>,
  atListeners: (rival: string) => ReturnType<typeof allAtListeners>,
): ReturnType<typeof attach> {
  const { rival } = kindOf(route)
  if (rival === undefined || attached.refused !== null) return attached
  const all = atListeners(rival)
  const objections = attached.listeners.map(
    ({ judged }) => rivalsRefused(all.get(judged) ?? []).get(uidOf(route)) ?? null,
  )
  const listeners = attached.listeners.filter((_, at) => objections[at] === null)
  return { listeners, refused: listeners.length > 0 ? null : (objections[0] ?? null) }
}

function droppedRules(
  dropped: ReadonlyMap<number, Objection>,
  all: boolean,
): { readonly refused: Objection | null; readonly partly: Objection | null } {
  const [first] = dropped.values()
  if (first === undefined) return { refused: null, partly: null }
  if (all) return { refused: first, partly: null }
  const places = [...dropped.keys()].join(', ')
  return { refused: null, partly: objection(first.reason, `Dropped Rule ${places}: ${first.message}`) }
}

/**
 * A listener that takes whole connections belongs to its oldest route. Other routes are accepted, but get nothing.
 * @returns a sentence for each listener that belongs to an older route; empty when there is none
 */
function idleAt(
  listeners: readonly AttachedListener[],
  route: RouteObject,
  parents: JudgedParents,
  rivals: readonly RouteObject[],
  labelsOf: GatewaySurroundings['labelsOf'],
): string {
  const judged = listeners.map((one) => one.judged)
  const older = rivals.filter((one) => one.kind === route.kind && byAge(one, route) < 0).sort(byAge)
  const texts = judged.flatMap((one) => {
    const owner = older.find((rival) => listenersOf(parents, rival, labelsOf).has(one))
    return owner === undefined ? [] : [`Listener ${one.listener.name} sends to ${routeIdOf(owner)}, which is older.`]
  })
  return texts.join(' ')
}
