import { type ListenerContent, printable, type RouteContent } from '@spout/connector'
import { areSeparable, FORWARDED_HEADERS, listenerTls } from '@spout/model'
import { endsTls, passesTls } from '../fields/ends-tls.ts'
import { bySpecificity } from '../fields/hostnames.ts'
import { closed, notFound } from '../rules/last-routes.ts'
import type { BackendShare } from '../rules/route-kind.ts'
import type { JudgedListener } from './listeners.ts'
import { passedRoutes } from './passed-routes.ts'

/** The pool of a route that takes all connections of a listener, and the backends in it. */
export interface NamedShares {
  readonly pool: string
  readonly shares: readonly BackendShare[]
}

/** The compiled routes of listeners. */
export interface PlacedOnListeners {
  /** The routes of a listener, in order. */
  readonly routesOf: (listener: JudgedListener) => readonly RouteContent[]
  /** Undefined when no route takes all connections of the listener. */
  readonly sharesOf: (listener: JudgedListener) => NamedShares | undefined
}

const LONGEST_NAME = 255

/**
 * The listeners of the load balancer: one for each port and transport, which does what all listeners of the Gateway on
 * this port do; two if some of these pass TLS on and others end it.
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
/** A listener for UDP is on another port than one for TCP with the same number. */
const portOf = ({ listener: { port, protocol } }: JudgedListener): string =>
  `${protocol === 'UDP' ? 'udp' : 'tcp'}/${port}`

/**
 * One listener of the load balancer for all listeners of a port that have one protocol and TLS mode. The certificate is
 * chosen by the name that the client requests.
 * @param all the listeners of the port, those with other protocols and modes included
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
        // ALPN offers no protocol, because the protocol of the members is unknown.
        tls: listenerTls.parse({ certificateIds: certificatesOf(listeners), alpn: [] }),
        defaultPool: '',
        ...(routes.length > 0 && { routes }),
      }
    }
    default: {
      const certificateIds = certificatesOf(listeners)
      // The API has one setting for all listeners of a port.
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
 * Keeps the hosts of different listeners apart (GEP-3567). A client may reuse a connection for every name in its
 * certificate. A request for the host of another listener than the connection was made for gets 421, so that it does
 * not bypass the TLS settings of its own listener. More hosts than a listener can separate are not kept apart.
 */
function apart(listeners: readonly JudgedListener[]): { readonly separateHosts?: string[] } {
  const hosts = listeners.flatMap(({ host }) => (host === '' ? [] : [host])).sort()
  return listeners.length > 1 && areSeparable(hosts) ? { separateHosts: hosts } : {}
}

/** In the order of the listeners: the first certificate is the default for names that no certificate has. */
const certificatesOf = (listeners: readonly JudgedListener[]): string[] => [
  ...new Set(listeners.flatMap((one) => one.certificateIds)),
]

/**
 * The routes of a port: those of the listener with the most specific host first. Listeners are isolated: behind the
 * routes of each listener comes one that takes all other requests for its host, so that they do not reach the routes of
 * a listener with a wider host.
 * @param last makes that route for a host
 */
function routesOf(
  listeners: readonly JudgedListener[],
  placed: PlacedOnListeners,
  last: (host: string) => RouteContent,
): readonly RouteContent[] {
  const ordered = [...listeners].sort((a, b) => bySpecificity(a.host, b.host))
  // Of lists with thousands of routes, `concat` is many times as fast as `flatMap`.
  const own = (one: JudgedListener): readonly RouteContent[] =>
    one.host === '' ? placed.routesOf(one) : [...placed.routesOf(one), last(one.host)]
  const none: readonly RouteContent[] = []
  return none.concat(...ordered.map(own))
}

/** Whether the listener needs the pool without members, to close connections for names that none of its routes has. */
export const closesConnections = ({ listener, host }: JudgedListener): boolean =>
  listener.protocol === 'TLS' && (!endsTls(listener) || host !== '')
