import { uidOf } from '@spout/connector'
import { byAge, type RouteObject } from '../../objects/route.ts'
import { kindOf } from '../../route-kinds/all.ts'
import { intersection } from '../fields/hostnames.ts'
import { type Objection, objection } from '../fields/objection.ts'

/** A route at one listener, with the hosts that it serves there. */
export interface RouteAtListener {
  readonly route: RouteObject
  readonly hosts: readonly string[]
}

/**
 * The routes that a listener refuses because of a rival. If an HTTPRoute and a GRPCRoute have a host name in common,
 * only one of them is accepted: the older one, then the first by `namespace/name` (GRPCRouteSpec.hostnames).
 * @param attached all routes that attach to the listener, in any order
 * @returns objections by the UID of the route
 */
export function rivalsRefused(attached: readonly RouteAtListener[]): ReadonlyMap<string, Objection> {
  const refused = new Map<string, Objection>()
  const kinds = new Set(attached.map(({ route }) => route.kind))
  if (!attached.some(({ route }) => kinds.has(kindOf(route).rival ?? ''))) return refused
  const accepted: RouteAtListener[] = []
  for (const one of attached.toSorted((a, b) => byAge(a.route, b.route))) {
    const { rival } = kindOf(one.route)
    const winner = accepted.find(({ route, hosts }) => route.kind === rival && haveCommonName(hosts, one.hosts))
    if (winner === undefined) accepted.push(one)
    else refused.set(uidOf(one.route), refusalOf(winner.route))
  }
  return refused
}

const refusalOf = ({ kind, metadata }: RouteObject): Objection =>
  objection('HostnameConflict', `hostnames: an older ${kind}, ${metadata.namespace}/${metadata.name}, has one of them.`)

const haveCommonName = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((one) => others.some((other) => intersection(one, other) !== null))
