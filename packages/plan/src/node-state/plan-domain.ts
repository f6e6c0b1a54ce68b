import { type Announce, type DomainEntry, type Network, NODE_STATE_VERSION } from '@spout/model'

/**
 * A tenant network as one node sees it.
 * @param nodeAddresses this node's own addresses by subnet id; a subnet without one is left out
 * @param gateway how this node answers for the gateway addresses; null leaves them to another node
 */
export function planDomain(
  network: Network,
  nodeAddresses: ReadonlyMap<string, string>,
  gateway: Announce | null,
): DomainEntry {
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
      return nodeAddress === undefined ? [] : [{ cidr, nodeAddress, gatewayIp }]
    }),
    gateway: network.returnPath === 'gateway' ? gateway : null,
  }
}
