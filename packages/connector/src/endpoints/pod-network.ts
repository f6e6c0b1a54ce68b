import { Refused } from '@spout/client/native-api'
import { cidrContains, parseCidr, parseIp } from '@spout/net'
import type { Logger } from '@spout/runtime'
import type { LoadBalancerService, PodRoute } from '../control-plane/load-balancer-service.ts'

/** The outcome of `bringRoutes`. */
export interface BroughtRoutes {
  /** Whether members that were unreachable may be reachable now. */
  readonly changed: boolean
  /** When to try again. `soon`: members that are about to be removed still need a route that should be removed. */
  readonly retry: 'soon' | 'later' | null
}

/** Limit for refused routes that are left out one by one. Beyond it, the whole change counts as refused. */
const MOST_LEFT_OUT = 100

/**
 * Sets the network's routes to the wanted ones, with one call if they differ. A route through an address outside of the
 * network's subnets, or one that the control plane refuses, is left out; the others are still set.
 * @param name name or id of the network
 */
export async function bringRoutes(
  service: LoadBalancerService,
  name: string,
  wanted: readonly PodRoute[],
  log: Logger,
): Promise<BroughtRoutes> {
  // A cluster without nodes is unlikely; more likely we cannot see them. So no routes are removed.
  if (wanted.length === 0) return { changed: false, retry: null }
  try {
    const network = await service.network(name)
    const subnets = network.cidrs.map((cidr) => parseCidr(cidr))
    // Only return path `node` needs to know which node hosts what, and the others refuse it.
    const known = network.returnPath === 'node' ? wanted : wanted.map(({ to, via }): PodRoute => ({ to, via }))
    let routes = known.filter(({ via }) => subnets.some((subnet) => cidrContains(subnet, parseIp(via))))
    for (let refused = 0; ; refused++) {
      if (textOf(network.routes) === textOf(routes)) return { changed: false, retry: refused > 0 ? 'later' : null }
      try {
        await service.replaceRoutes(network.id, routes)
        return { changed: true, retry: refused > 0 ? 'later' : null }
      } catch (error) {
        const at = error instanceof Refused ? /^routes\[(\d+)\]/.exec(error.field ?? '')?.[1] : undefined
        const route = at === undefined ? undefined : routes[Number(at)]
        if (route === undefined || refused >= MOST_LEFT_OUT) throw error
        log.warn(
          { event: 'route-left-out', ...route, reason: (error as Error).message },
          'pods behind this route cannot be reached',
        )
        routes = routes.filter((one) => one !== route)
      }
    }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    if (error.code === 'InUse') return { changed: false, retry: 'soon' }
    log.warn(
      { event: 'routes-refused', network: name, field: error.field, reason: error.message },
      'the routes of the pod network were refused; will try again',
    )
    return { changed: false, retry: 'later' }
  }
}

const textOf = (routes: readonly PodRoute[]): string =>
  routes
    .map(({ to, via, node = '' }) => `${to} ${via} ${node}`)
    .sort()
    .join()
