import type { LocalLoadBalancer } from '@spout/model'

/** A load balancer that the nodes of a group carry by their own settings. */
export interface LocalAdoption {
  /** The administrators' project that shows it. */
  readonly projectId: string
  readonly nodeGroupId: string
  readonly loadBalancer: LocalLoadBalancer
}

/** Load balancers of nodes' own settings: they are shown, and their addresses are kept out of pools. */
export interface LocalAdmission {
  /**
   * Stores it, or what differs from what is stored. Nothing on a node depends on it.
   * @throws SpoutError AddressTaken where its address is somebody else's; AddressForbidden where no node could have it
   */
  adoptLoadBalancer(adoption: LocalAdoption): Promise<void>
  /** Deletes one that no node's settings name any more. Does nothing if there is none. */
  abandonLoadBalancer(id: string): Promise<void>
}
