import {
  askedNames,
  DNS_ANNOTATIONS,
  keyOf,
  type LoadBalancerContent,
  namesOfAll,
  picked,
  type Refusal,
  tooManyNames,
} from '@spout/connector'
import type { KubeObject } from '@spout/kube'
import type { Gateway } from '../objects/gateway.ts'
import { ANY_HOST, isWildcard } from './hostnames.ts'
import type { JudgedListener } from './listeners.ts'

/** The hosts of a route at a listener that serves it. */
export interface PlacedHosts {
  readonly route: KubeObject
  readonly hosts: readonly string[]
}

export interface GatewayNames {
  readonly published: Pick<LoadBalancerContent, 'dnsNames' | 'dnsTtlSeconds'>
  readonly notices: readonly Refusal[]
}

const OF_ROUTES: readonly string[] = [...DNS_ANNOTATIONS.ttl, ...DNS_ANNOTATIONS.controller]

/**
 * The names of a Gateway: those of its annotation, its listeners' own, and as external-dns's sources of routes do, the
 * hosts at which routes attach. A listener's wildcard is a name only where a route takes all of it.
 */
export function dnsNamesOf(
  { metadata }: Gateway,
  listeners: readonly JudgedListener[],
  placed: readonly PlacedHosts[],
  domains: readonly string[],
): GatewayNames {
  const own = listeners
    .filter(({ host }) => host !== ANY_HOST && !isWildcard(host))
    .map(({ host, id }) => ({ host, field: `spec.listeners[${id}].hostname` }))
  const byAge = placed.toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))
  const asked = [
    askedNames(metadata.annotations, own, domains),
    ...byAge.map(({ route, hosts }) => {
      const field = `${keyOf(route)}: spec.hostnames`
      const served = hosts.map((host) => ({ host, field }))
      return askedNames(picked(route.metadata.annotations, OF_ROUTES), served, domains)
    }),
  ]
  const published = namesOfAll(asked)
  const tooMany = asked.flatMap((one) => tooManyNames(one, published.dnsNames) ?? [])
  return { published, notices: [...asked.flatMap(({ notices }) => notices), ...tooMany.slice(0, 1)] }
}

const ageOf = ({ route }: PlacedHosts): string => `${route.metadata.creationTimestamp ?? ''} ${keyOf(route)}`
