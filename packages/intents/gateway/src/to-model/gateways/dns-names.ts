import {
  type AskedNames,
  askedNames,
  DNS_ANNOTATIONS,
  keyOf,
  type LoadBalancerContent,
  namesOfAll,
  picked,
  type Refusal,
  tooManyNames,
} from '@spout/connector'
import { MOST_DNS_NAMES } from '@spout/model'
import type { Gateway } from '../../objects/gateway.ts'
import { type RouteObject, routeIdOf } from '../../objects/route.ts'
import { ANY_HOST, isWildcard } from '../fields/hostnames.ts'
import type { JudgedListener } from '../listeners/listeners.ts'

/** The DNS names that a route requests through the listeners that serve it, and the route's age. */
export interface NamesOfRoute {
  /** A text that sorts the oldest route first. Unique. */
  readonly age: string
  readonly asked: readonly AskedNames[]
}

export interface GatewayNames {
  readonly published: Pick<LoadBalancerContent, 'dnsNames' | 'dnsTtlSeconds'>
  readonly notices: readonly Refusal[]
}

const OF_ROUTES: readonly string[] = [...DNS_ANNOTATIONS.ttl, ...DNS_ANNOTATIONS.controller]

/**
 * The DNS names to publish for a Gateway: those of its annotation, the exact host names of its listeners, and the hosts
 * that its routes serve, as external-dns does for routes. The wildcard of a listener is published only if a route
 * serves all of it.
 * @param ofRoutes the oldest first; routes that request nothing may be left out
 */
export function dnsNamesOf(
  { metadata }: Gateway,
  listeners: readonly JudgedListener[],
  ofRoutes: readonly NamesOfRoute[],
  domains: readonly string[],
): GatewayNames {
  const own = listeners
    .filter(({ host }) => host !== ANY_HOST && !isWildcard(host))
    .map(({ host, id }) => ({ host, field: `spec.listeners[${id}].hostname` }))
  const asked = [askedNames(metadata.annotations, own, domains), ...ofRoutes.flatMap((one) => one.asked)]
  const published = namesOfAll(asked)
  const notices = asked.flatMap((one) => one.notices)
  return { published, notices: [...notices, ...notPublished(asked, published.dnsNames)] }
}

/** One notice for all names beyond the limit; empty when there are none. */
function notPublished(asked: readonly AskedNames[], published: readonly string[] = []): readonly Refusal[] {
  if (published.length < MOST_DNS_NAMES) return []
  for (const one of asked) {
    const tooMany = tooManyNames(one, published)
    if (tooMany !== null) return [tooMany]
  }
  return []
}

/** The names that a route requests. @param placed the hosts that it serves, for each listener */
export function namesOfRoute(
  route: RouteObject,
  placed: readonly (readonly string[])[],
  domains: readonly string[],
): NamesOfRoute {
  const { creationTimestamp = '', annotations } = route.metadata
  const field = `${keyOf(route)}: spec.hostnames`
  const own = picked(annotations, OF_ROUTES)
  const asked = placed.map((hosts) => {
    const served = hosts.map((host) => ({ host, field }))
    return askedNames(own, served, domains)
  })
  return { age: `${creationTimestamp} ${routeIdOf(route)}`, asked: asked.filter(asksForSomething) }
}

const asksForSomething = ({ dnsNames, dnsTtlSeconds, notices }: AskedNames): boolean =>
  dnsNames.length > 0 || dnsTtlSeconds !== null || notices.length > 0
