/** Addresses of nodes, in tenant networks and on the fabric. */
export interface NodeAddressAdmission {
  /** Gives every node an address in every subnet. Writes nothing if they have one. */
  ensureNodeAddresses(): Promise<void>
  /** Gives a network with return path `snat` the addresses that `sharedAddresses` returns. */
  ensureSharedAddresses(networkId: string): Promise<void>
  /** A node's own addresses in a network, by subnet id, as `planDomains` takes them. */
  nodeAddresses(networkId: string, nodeId: string): ReadonlyMap<string, string>
  /** The addresses that members of a network see whichever node carries it, by subnet id. */
  sharedAddresses(networkId: string): ReadonlyMap<string, string>
  /** Stores the fabric address that a node's agent sees. @throws SpoutError when another node has it */
  seeFabricAddress(nodeId: string, address: string): Promise<void>
}
