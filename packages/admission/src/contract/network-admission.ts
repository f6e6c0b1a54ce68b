import type { Network, NetworkRoute, Subnet } from '@spout/model'

/** Writes of tenant networks. */
export interface NetworkAdmission {
  createNetwork(draft: Pick<Network, 'projectId' | 'name' | 'description' | 'returnPath' | 'segment'>): Promise<Network>
  addSubnet(
    networkId: string,
    draft: Pick<Subnet, 'name' | 'description' | 'cidr' | 'gatewayIp' | 'nodeRange' | 'reach'>,
  ): Promise<Subnet>
  removeSubnet(networkId: string, subnetId: string): Promise<void>
  /** Replaces all routes. Refused while a member is behind a route that would go. */
  setNetworkRoutes(networkId: string, routes: readonly NetworkRoute[]): Promise<Network>
  deleteNetwork(id: string): Promise<void>
}
