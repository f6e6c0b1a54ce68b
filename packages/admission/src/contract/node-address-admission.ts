/** Addresses that belong to nodes: those that they have in tenants' networks, and the one that they have on the fabric. */
export interface NodeAddressAdmission {
  /** Sees to it that every node has an address in every subnet. Writes nothing when all is well. */
  ensureNodeAddresses(): Promise<void>
  /** Sees to it that a network of return path `snat` has the addresses that `sharedAddresses` gives. */
  ensureSharedAddresses(networkId: string): Promise<void>
  /** A node's own addresses in a network, by subnet id: what `planDomain` wants. */
  nodeAddresses(networkId: string, nodeId: string): ReadonlyMap<string, string>
  /** What members of a network see whichever node carries it, by subnet id. */
  sharedAddresses(networkId: string): ReadonlyMap<string, string>
  /** Keeps what a node's agent sees as its address on the fabric. @throws SpoutError when another has it */
  seeFabricAddress(nodeId: string, address: string): Promise<void>
}
