import {
  type Announce,
  type DomainEntry,
  type DomainHosts,
  type DomainTunnel,
  domainKey,
  type Network,
  NODE_STATE_VERSION,
  shardOfAnnounce,
} from '@spout/model'
import { cidrContains, parseCidr, parseIp } from '@spout/net'

/** Facts about the domain of a network that are the same on all nodes that carry it. */
export interface DomainUse {
  /** With return path `snat`: the shared addresses that members see, by subnet id. Absent: each node uses its own. */
  readonly sharedAddresses?: ReadonlyMap<string, string>
  /** The own addresses of each node that carries it, by node id. Absent: nothing needs them. */
  readonly allAddresses?: DomainEntry['nodeAddresses']
  /** Whether its load balancers need no connection tracking. */
  readonly untracked?: boolean
  /** With return path `node`: which node hosts which members, as this node gets it. */
  readonly hosts?: DomainHosts | undefined
}

/**
 * The entry of a tenant network on one node.
 * @param nodeAddresses this node's own addresses by subnet id; a subnet without one is left out
 * @param gateway how this node announces the shared addresses; null if another node does
 */
export function planDomain(
  network: Network,
  nodeAddresses: ReadonlyMap<string, string>,
  gateway: Announce | null,
  { sharedAddresses = new Map(), allAddresses, untracked = false, hosts }: DomainUse = {},
): DomainEntry {
  const isInShard = gateway !== null && shardOfAnnounce(gateway) !== null
  // A shared address needs a shard: only one node at a time may use it, the one that has the network's VIPs.
  const shared = network.returnPath === 'snat' && isInShard ? sharedAddresses : new Map<string, string>()
  const tunnelled = tunnelledSubnets(network)
  const reached = reachedRoutes(network, nodeAddresses)
  // The nodes of routes are in `hosts`.
  const routes = hosts === undefined ? reached : reached.map(({ to, via }) => ({ to, via }))
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
    ...(hosts === undefined ? {} : { hosts }),
    ...(routes.length === 0 ? {} : { routes }),
    ...(allAddresses === undefined ? {} : { nodeAddresses: allAddresses }),
    ...(untracked && network.returnPath !== 'dsr' ? { untracked } : {}),
  }
}

/** The routes that a node can use. It reaches a router only if it has an address in the router's subnet. */
function reachedRoutes({ routes, subnets }: Network, nodeAddresses: ReadonlyMap<string, string>): Network['routes'] {
  if (routes.length === 0) return routes
  const left = subnets.filter(({ id }) => !nodeAddresses.has(id)).map(({ cidr }) => parseCidr(cidr))
  return left.length === 0 ? routes : routes.filter(({ via }) => !left.some((cidr) => cidrContains(cidr, parseIp(via))))
}

/**
 * Subnets behind routers, each with the router on the segment that leads to it: the gateway of the first subnet of its
 * address family on the segment.
 */
function tunnelledSubnets({ subnets }: Network): DomainTunnel['subnets'] {
  return subnets.flatMap((subnet) => {
    if (subnet.reach !== 'tunnel') return []
    const via = tunnelGateway(subnets, subnet.cidr)
    return via === null ? [] : [{ cidr: subnet.cidr, via }]
  })
}

/**
 * The router on the segment that leads to a subnet behind routers. Null: no subnet of its address family has a gateway.
 */
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
