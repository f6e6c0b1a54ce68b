import type { Network, NetworkRoute, Subnet } from '@spout/model'

/** Writes of tenants' networks. */
export interface NetworkAdmission {
  createNetwork(draft: Pick<Network, 'projectId' | 'name' | 'description' | 'returnPath' | 'segment'>): Promise<Network>
  addSubnet(
    networkId: string,
    draft: Pick<Subnet, 'name' | 'description' | 'cidr' | 'gatewayIp' | 'nodeRange' | 'reach'>,
  ): Promise<Subnet>
  removeSubnet(networkId: string, subnetId: string): Promise<void>
  /** Replaces all of them. Refused while a member is behind one that goes. */
  setNetworkRoutes(networkId: string, routes: readonly NetworkRoute[]): Promise<Network>
  deleteNetwork(id: string): Promise<void>
}
