import type { RouteGroupKind } from '../objects/gateway.ts'
import { GATEWAY_GROUP } from '../objects/names.ts'
import type { RouteObject } from '../objects/route.ts'
import type { RouteKind } from '../to-model/rules/route-kind.ts'
import { GRPC_ROUTE } from './grpc-route.ts'
import { HTTP_ROUTE } from './http-route.ts'
import { TCP_ROUTE, UDP_ROUTE } from './tcp-and-udp-route.ts'
import { TLS_ROUTE } from './tls-route.ts'

/** The kinds of routes that are served, in the order in which the statuses of listeners name them. */
export const ROUTE_KINDS: readonly RouteKind[] = [HTTP_ROUTE, GRPC_ROUTE, TLS_ROUTE, TCP_ROUTE, UDP_ROUTE]

const BY_NAME: ReadonlyMap<string, RouteKind> = new Map(ROUTE_KINDS.map((one) => [one.kind, one]))

/** @throws Error when the kind is not served, which is a bug: no route of such a kind is read */
export function kindOf({ kind }: Pick<RouteObject, 'kind'>): RouteKind {
  const found = BY_NAME.get(kind)
  if (found === undefined) throw new Error(`${kind} is not a kind of routes`)
  return found
}

/** Protocols of listeners that routes may attach to. */
export const LISTENER_PROTOCOLS: readonly string[] = [...new Set(ROUTE_KINDS.flatMap(({ protocols }) => protocols))]

/** The kinds that may attach to listeners of a protocol, as statuses name them. */
export const kindsOfProtocol = (protocol: string): readonly RouteGroupKind[] =>
  ROUTE_KINDS.filter(({ protocols }) => protocols.includes(protocol)).map(({ kind }) => ({
    group: GATEWAY_GROUP,
    kind,
  }))
