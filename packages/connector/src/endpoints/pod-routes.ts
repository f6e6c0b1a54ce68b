import type { Node } from '@spout/kube'
import { AddressSyntaxError, formatCidr, parseCidr, parseIp } from '@spout/net'
import type { PodRoute } from '../control-plane/load-balancer-service.ts'
import { addressesOf } from './nodes.ts'

/** Settings for clusters whose pods are not reached through the node that they run on. */
export interface PodWay {
  /** One router address per family through which all pods are reached; empty: pods are reached through their nodes. */
  readonly routers: readonly string[]
  /** The prefixes of pod addresses; empty: the `podCIDRs` of the nodes. */
  readonly podCidrs: readonly string[]
}

const BY_NODES: PodWay = { routers: [], podCidrs: [] }

/**
 * The routes to all pods, sorted: each node's `podCIDRs` through the node's internal address of the same family, or
 * through the router of that family. Nodes that are excluded from load balancing are included, because their pods may
 * be members. If two nodes have the same prefix, the first by name counts. A route names its node, unless the prefixes
 * are configured.
 */
export function podRoutes(nodes: Iterable<Node>, { routers, podCidrs }: PodWay = BY_NODES): readonly PodRoute[] {
  const routes = new Map<string, PodRoute>()
  const add = (prefixes: readonly string[], vias: ReadonlyMap<4 | 6, string>, node?: string): void => {
    for (const text of prefixes) {
      const route = routeOf(text, vias)
      if (route !== null && !routes.has(route.to)) routes.set(route.to, node === undefined ? route : { ...route, node })
    }
  }
  const shared = new Map(routers.map((router) => [parseIp(router).version, router]))
  const byName = [...nodes].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  if (podCidrs.length > 0) add(podCidrs, shared)
  else
    for (const node of byName) {
      const { podCIDR, podCIDRs = podCIDR === undefined ? [] : [podCIDR] } = node.spec ?? {}
      add(podCIDRs, shared.size > 0 ? shared : addressesOf(node), node.metadata.name)
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
