import type { Node } from '@spout/kube'
import { AddressSyntaxError, formatCidr, parseCidr, parseIp } from '@spout/net'
import type { PodRoute } from '../control-plane/load-balancer-service.ts'
import { addressesOf } from './nodes.ts'

/** How pods are reached when it is not through their own nodes. */
export interface PodWay {
  /** One router address per family through which all pods are reached; empty: each through the address of its node. */
  readonly routers: readonly string[]
  /** Prefixes that pods have addresses from; empty: what the nodes say. */
  readonly podCidrs: readonly string[]
}

const BY_NODES: PodWay = { routers: [], podCidrs: [] }

/**
 * The routes to all pods: each node's `podCIDRs` through the node's internal address of the same family, or through the
 * router of that family. Nodes that take no traffic from outside are included: their pods may. Sorted. If two nodes
 * claim one prefix, the first has it.
 */
export function podRoutes(nodes: Iterable<Node>, { routers, podCidrs }: PodWay = BY_NODES): readonly PodRoute[] {
  const routes = new Map<string, PodRoute>()
  const add = (prefixes: readonly string[], vias: ReadonlyMap<4 | 6, string>): void => {
    for (const text of prefixes) {
      const route = routeOf(text, vias)
      if (route !== null && !routes.has(route.to)) routes.set(route.to, route)
    }
  }
  const shared = new Map(routers.map((router) => [parseIp(router).version, router]))
  const byName = [...nodes].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  if (podCidrs.length > 0) add(podCidrs, shared)
  else
    for (const node of byName) {
      const { podCIDR, podCIDRs = podCIDR === undefined ? [] : [podCIDR] } = node.spec ?? {}
      add(podCIDRs, shared.size > 0 ? shared : addressesOf(node))
    }
  return [...routes.values()].sort((a, b) => (a.to < b.to ? -1 : 1))
}

function routeOf(text: string, vias: ReadonlyMap<4 | 6, string>): PodRoute | null {
  try {
    const prefix = parseCidr(text)
    const via = vias.get(prefix.version)
    return via === undefined ? null : { to: formatCidr(prefix), via }
  } catch (error) {
    if (error instanceof AddressSyntaxError) return null
    throw error
  }
}
