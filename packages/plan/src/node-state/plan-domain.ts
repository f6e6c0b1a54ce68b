import {
  type Announce,
  type DomainEntry,
  type DomainTunnel,
  domainKey,
  type Network,
  NODE_STATE_VERSION,
} from '@spout/model'
import { cidrContains, parseCidr, parseIp } from '@spout/net'

/** What else decides how a node sees a network, alike for all that carry it. */
export interface DomainUse {
  /** What members see with return path `snat`, by subnet id; left out where each node keeps its own. */
  readonly sharedAddresses?: ReadonlyMap<string, string>
  /** Own addresses of all nodes that carry it, by node id; left out where nobody asks for them. */
  readonly allAddresses?: DomainEntry['nodeAddresses']
  /** Whether its load balancers leave the kernel nothing to track. */
  readonly untracked?: boolean
}

/**
 * A tenant network as one node sees it.
 * @param nodeAddresses this node's own addresses by subnet id; a subnet without one is left out
 * @param gateway how this node answers for addresses that nodes share; null leaves them to another node
 */
export function planDomain(
  network: Network,
  nodeAddresses: ReadonlyMap<string, string>,
  gateway: Announce | null,
  { sharedAddresses = new Map(), allAddresses, untracked = false }: DomainUse = {},
): DomainEntry {
  // One node at a time must answer for a shared address, the one that the network's VIPs are at.
  const shared = network.returnPath === 'snat' && gateway?.via === 'vrrp' ? sharedAddresses : new Map<string, string>()
  const tunnelled = tunnelledSubnets(network)
  const routes = reachedRoutes(network, nodeAddresses)
  return {
    kind: 'domain',
    version: NODE_STATE_VERSION,
    key: domainKey(network.number),
    number: network.number,
    networkId: network.id,
    projectId: network.projectId,
    segment: { physicalNetwork: network.segment.physicalNetwork, vlan: network.segment.vlan },
    returnPath: network.returnPath,
    subnets: network.subnets.flatMap(({ id, cidr, gatewayIp }) => {
      const nodeAddress = nodeAddresses.get(id)
      return nodeAddress === undefined ? [] : [{ cidr, nodeAddress, gatewayIp, sharedAddress: shared.get(id) ?? null }]
    }),
    gateway: network.returnPath === 'gateway' || shared.size > 0 ? gateway : null,
    ...(tunnelled.length === 0 ? {} : { tunnel: { vni: network.number, subnets: tunnelled } }),
    ...(routes.length === 0 ? {} : { routes }),
    ...(allAddresses === undefined ? {} : { nodeAddresses: allAddresses }),
    ...(untracked && network.returnPath !== 'dsr' ? { untracked } : {}),
  }
}

/** Without an address in its subnet a node does not reach a router. */
function reachedRoutes({ routes, subnets }: Network, nodeAddresses: ReadonlyMap<string, string>): Network['routes'] {
  if (routes.length === 0) return routes
  const left = subnets.filter(({ id }) => !nodeAddresses.has(id)).map(({ cidr }) => parseCidr(cidr))
  return left.length === 0 ? routes : routes.filter(({ via }) => !left.some((cidr) => cidrContains(cidr, parseIp(via))))
}

/** Subnets behind routers, and the segment's router through which each is reached: the gateway of its family's first subnet. */
function tunnelledSubnets({ subnets }: Network): DomainTunnel['subnets'] {
  return subnets.flatMap((subnet) => {
    if (subnet.reach !== 'tunnel') return []
    const via = tunnelGateway(subnets, subnet.cidr)
    return via === null ? [] : [{ cidr: subnet.cidr, via }]
  })
}

/** The segment's router towards a subnet that is not on it; null without one of that family. */
export function tunnelGateway(
  subnets: readonly Pick<Network['subnets'][number], 'cidr' | 'gatewayIp' | 'reach'>[],
  cidr: string,
): string | null {
  const { version } = parseCidr(cidr)
  const on = subnets.find(
    (one) => one.reach !== 'tunnel' && one.gatewayIp !== null && parseCidr(one.cidr).version === version,
  )
  return on?.gatewayIp ?? null
}
