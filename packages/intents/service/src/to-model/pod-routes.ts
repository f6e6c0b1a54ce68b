import type { Node } from '@spout/kube'
import { AddressSyntaxError, formatCidr, parseCidr } from '@spout/net'
import type { PodRoute } from '../spout/load-balancer-service.ts'
import { addressesOf } from './nodes.ts'

/**
 * The way to every pod: each node's `podCIDRs` by the node's internal address of the same family. Nodes that take no
 * traffic from outside are in it too: pods on them may. Sorted; the first of two nodes that claim one prefix has it.
 */
export function podRoutes(nodes: Iterable<Node>): readonly PodRoute[] {
  const routes = new Map<string, PodRoute>()
  const byName = [...nodes].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  for (const node of byName) {
    const addresses = addressesOf(node)
    const { podCIDR, podCIDRs = podCIDR === undefined ? [] : [podCIDR] } = node.spec ?? {}
    for (const text of podCIDRs) {
      const route = routeOf(text, addresses)
      if (route !== null && !routes.has(route.to)) routes.set(route.to, route)
    }
  }
  return [...routes.values()].sort((a, b) => (a.to < b.to ? -1 : 1))
}

function routeOf(text: string, addresses: ReturnType<typeof addressesOf>): PodRoute | null {
  try {
    const prefix = parseCidr(text)
    const via = addresses.get(prefix.version)
    return via === undefined ? null : { to: formatCidr(prefix), via }
  } catch (error) {
    if (error instanceof AddressSyntaxError) return null
    throw error
  }
}
