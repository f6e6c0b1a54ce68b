import { type Announce, type DomainEntry, type Network, NODE_STATE_VERSION } from '@spout/model'

/**
 * A tenant network as one node sees it.
 * @param nodeAddresses this node's own addresses by subnet id; a subnet without one is left out
 * @param gateway how this node answers for addresses that nodes share; null leaves them to another node
 * @param sharedAddresses what members see with return path `snat`, by subnet id; empty where each node keeps its own
 */
export function planDomain(
  network: Network,
  nodeAddresses: ReadonlyMap<string, string>,
  gateway: Announce | null,
  sharedAddresses: ReadonlyMap<string, string> = new Map(),
): DomainEntry {
  // One node at a time must answer for a shared address, the one that the network's VIPs are at.
  const shared = network.returnPath === 'snat' && gateway?.via === 'vrrp' ? sharedAddresses : new Map<string, string>()
  return {
    kind: 'domain',
    version: NODE_STATE_VERSION,
    key: `domain/${network.number}`,
    number: network.number,
    networkId: network.id,
    segment: { physicalNetwork: network.segment.physicalNetwork, vlan: network.segment.vlan },
    returnPath: network.returnPath,
    subnets: network.subnets.flatMap(({ id, cidr, gatewayIp }) => {
      const nodeAddress = nodeAddresses.get(id)
      return nodeAddress === undefined ? [] : [{ cidr, nodeAddress, gatewayIp, sharedAddress: shared.get(id) ?? null }]
    }),
    gateway: network.returnPath === 'gateway' || shared.size > 0 ? gateway : null,
  }
}
