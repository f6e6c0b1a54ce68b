import { type ListenerContent, printable, type RouteContent } from '@spout/connector'
import { areSeparable, FORWARDED_HEADERS, listenerTls } from '@spout/model'
import { endsTls, passesTls } from '../fields/ends-tls.ts'
import { bySpecificity } from '../fields/hostnames.ts'
import { closed, notFound } from '../rules/last-routes.ts'
import type { BackendShare } from '../rules/route-kind.ts'
import type { JudgedListener } from './listeners.ts'
import { passedRoutes } from './passed-routes.ts'

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

/**
 * The listeners of a load balancer: one for each port, with what the Gateway's listeners there do; two where one of these
 * passes TLS on and another one ends it.
 */
export const listenerContents = (
  usable: readonly JudgedListener[],
  placed: PlacedOnListeners,
): readonly ListenerContent[] =>
  [...Map.groupBy(usable.toSorted(byPort), portOf).values()].flatMap((all) =>
    [all.filter(passesOn), all.filter((one) => !passesOn(one))].flatMap((own): readonly ListenerContent[] => {
      const [first] = own
      if (first === undefined) return []
      const { port } = first.listener
      const name = printable(own.map(({ id }) => id).join(','))
      return [{ name: name.slice(0, LONGEST_NAME), port, allowedCidrs: null, ...served(own, all, placed) }]
    }),
  )

const byPort = ({ listener: a }: JudgedListener, { listener: b }: JudgedListener): number =>
  a.port - b.port || Number(a.protocol === 'UDP') - Number(b.protocol === 'UDP')
const passesOn = ({ listener }: JudgedListener): boolean => passesTls(listener)
/** TCP and UDP have ports of their own. */
const portOf = ({ listener: { port, protocol } }: JudgedListener): string =>
  `${protocol === 'UDP' ? 'udp' : 'tcp'}/${port}`

/**
 * The content of listeners of one port that share one protocol and mode. Clients get the certificate for the name that
 * they request.
 * @param all of the port
 */
function served(
  listeners: readonly JudgedListener[],
  all: readonly JudgedListener[],
  placed: PlacedOnListeners,
): Omit<ListenerContent, 'name' | 'port' | 'allowedCidrs'> {
  const [first] = listeners
  switch (first?.listener.protocol) {
    case 'TCP':
    case 'UDP': {
      const { pool = '', shares: own = [] } = placed.sharesOf(first) ?? {}
      const isServed = own.some(({ backend }) => backend !== null)
      // A listener without a pool refuses connections.
      return { protocol: first.listener.protocol === 'TCP' ? 'tcp' : 'udp', defaultPool: isServed ? pool : '' }
    }
    case 'TLS': {
      if (passesOn(first))
        return {
          protocol: 'tls-passthrough',
          defaultPool: '',
          routes: passedRoutes(listeners, all, (one) => placed.routesOf(one)),
        }
      const routes = routesOf(listeners, placed, closed)
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
          : { protocol: 'https', tls: listenerTls.parse({ certificateIds, clientCertificates, ...apart(all) }) }),
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
