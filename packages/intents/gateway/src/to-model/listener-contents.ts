import { type ListenerContent, type RouteContent, type RouteContentInput, routeOf } from '@spout/connector'
import { areSeparable, FORWARDED_HEADERS, listenerTls } from '@spout/model'
import type { BackendShare } from '../route-kinds/route-kind.ts'
import { endsTls } from './ends-tls.ts'
import { bySpecificity } from './hostnames.ts'
import type { JudgedListener } from './listeners.ts'
import { hostConditions } from './matches.ts'
import { CLOSED_POOL } from './tls-rules.ts'

/** The pool of a route that takes the connections of a listener. */
export interface NamedShares {
  readonly pool: string
  readonly shares: readonly BackendShare[]
}

/** The routes of listeners, converted and placed. */
export interface PlacedOnListeners {
  /** The routes of a listener, in order. */
  readonly routesOf: (listener: JudgedListener) => readonly RouteContent[]
  readonly sharesOf: (listener: JudgedListener) => NamedShares | undefined
}

const LONGEST_NAME = 255

/** The listeners of a load balancer: one for each port, with what the Gateway's listeners there do. */
export const listenerContents = (
  usable: readonly JudgedListener[],
  placed: PlacedOnListeners,
): readonly ListenerContent[] =>
  [...Map.groupBy(usable.toSorted(byPort), portOf).values()].map(
    (own): ListenerContent => ({
      name: own
        .map(({ id }) => id)
        .join(',')
        .slice(0, LONGEST_NAME),
      port: own[0]!.listener.port,
      allowedCidrs: null,
      ...served(own, placed),
    }),
  )

const byPort = ({ listener: a }: JudgedListener, { listener: b }: JudgedListener): number =>
  a.port - b.port || Number(a.protocol === 'UDP') - Number(b.protocol === 'UDP')
/** TCP and UDP have ports of their own. */
const portOf = ({ listener: { port, protocol } }: JudgedListener): string =>
  `${protocol === 'UDP' ? 'udp' : 'tcp'}/${port}`

/**
 * The content of the listeners of one port. They share one protocol. Clients get the certificate for the name that they
 * request.
 */
function served(
  listeners: readonly JudgedListener[],
  placed: PlacedOnListeners,
): Omit<ListenerContent, 'name' | 'port' | 'allowedCidrs'> {
  const [first] = listeners
  switch (first?.listener.protocol) {
    case 'TCP':
    case 'UDP': {
      const { pool = '', shares: own = [] } = placed.sharesOf(first) ?? {}
      // A listener without a pool refuses connections.
      return { protocol: first.listener.protocol === 'TCP' ? 'tcp' : 'udp', defaultPool: own.length === 0 ? '' : pool }
    }
    case 'TLS': {
      const routes = routesOf(listeners, placed, closed)
      // The API asks that a connection with a name that no route has is closed; without the last route it would get an
      // alert.
      if (!endsTls(first.listener))
        return { protocol: 'tls-passthrough', defaultPool: '', routes: [...routes, closed('')] }
      return {
        protocol: 'tls',
        // The protocol of the members is unknown, so none is offered (ALPN).
        tls: listenerTls.parse({ certificateIds: certificatesOf(listeners), alpn: [] }),
        defaultPool: '',
        ...(routes.length > 0 && { routes }),
      }
    }
    default: {
      const certificateIds = certificatesOf(listeners)
      // One setting for all listeners of a port.
      const { clientCertificates = null } = first ?? {}
      return {
        ...(certificateIds.length === 0
          ? { protocol: 'http' }
          : { protocol: 'https', tls: listenerTls.parse({ certificateIds, clientCertificates, ...apart(listeners) }) }),
        insertHeaders: [...FORWARDED_HEADERS],
        defaultPool: '',
        routes: [...routesOf(listeners, placed, notFound), notFound('')],
      }
    }
  }
}

/**
 * Clients send requests for several names on one connection where its certificate has them all. A request for another
 * listener than the connection was made for gets 421, so that no listener's TLS counts for the requests of another one
 * (GEP-3567). Hosts that are too many for it are not kept apart.
 */
function apart(listeners: readonly JudgedListener[]): { readonly separateHosts?: string[] } {
  const hosts = listeners.flatMap(({ host }) => (host === '' ? [] : [host])).sort()
  return listeners.length > 1 && areSeparable(hosts) ? { separateHosts: hosts } : {}
}

/** In the order of the listeners: a client whose name no certificate has gets the first one. */
const certificatesOf = (listeners: readonly JudgedListener[]): string[] => [
  ...new Set(listeners.flatMap((one) => one.certificateIds)),
]

/**
 * The routes of a port: those of the listener with the most specific name first. What no route of a listener takes gets
 * the last one of this listener, and not the routes of a listener with a wider name: listeners are isolated.
 */
function routesOf(
  listeners: readonly JudgedListener[],
  placed: PlacedOnListeners,
  last: (host: string) => RouteContent,
): readonly RouteContent[] {
  const ordered = [...listeners].sort((a, b) => bySpecificity(a.host, b.host))
  return ordered.flatMap((one) => [...placed.routesOf(one), ...(one.host === '' ? [] : [last(one.host)])])
}

/** Whether connections with a name that no route of the listener has are closed: they go to a pool without members. */
export const closesConnections = ({ listener, host }: JudgedListener): boolean =>
  listener.protocol === 'TLS' && (!endsTls(listener) || host !== '')

const notFound = (host: string): RouteContent => lastRoute(`404/${host}`, host, { type: 'respond', code: 404 })

/** No answer can be given within TLS. */
const closed = (host: string): RouteContent =>
  lastRoute(`closed/${host}`, host, { type: 'forward', pools: [{ pool: CLOSED_POOL, weight: 1 }] })

function lastRoute(name: string, host: string, action: RouteContentInput['action']): RouteContent {
  const made = routeOf({ name, conditions: hostConditions([host]), action }, 'listeners')
  // Listeners with other names are refused before.
  if ('refusal' in made) throw new Error(`${host}: ${made.refusal.message}`)
  return made.value
}
