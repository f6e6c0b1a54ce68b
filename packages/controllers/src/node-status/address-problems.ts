import type { AddressConflictReport, NodeStatus } from '@spout/model'

/** A problem each up to so many; a flood of claims must not fill a page. */
const NAMED = 5

/** Where an address is: the node that is to answer for it, null where nodes settle that themselves. */
interface Owned {
  readonly address: string
  readonly ownerNodeId: string | null
}

/**
 * Without those of addresses that were given to another node: what this one hears until it has let go is the new owner.
 * @param owned at least what is known of the claimed addresses; tenants may have the same one
 */
export function conflictsOf(
  nodeId: string,
  conflicts: readonly AddressConflictReport[],
  owned: Iterable<Owned>,
): readonly AddressConflictReport[] {
  if (conflicts.length === 0) return conflicts
  const claimed = new Set(conflicts.map(({ address }) => address))
  const [own, others] = [new Set<string>(), new Set<string>()]
  for (const { address, ownerNodeId } of owned)
    if (claimed.has(address)) (ownerNodeId === nodeId || ownerNodeId === null ? own : others).add(address)
  return conflicts.filter(({ address }) => own.has(address) || !others.has(address))
}

/** Somebody else on the wire says that addresses of the node are his. The node keeps them, and announces them again. */
export function addressProblems(conflicts: readonly AddressConflictReport[]): NodeStatus['problems'] {
  const named = conflicts.slice(0, NAMED).map(({ address, mac, since }) => ({
    code: 'AddressClaimed',
    message: `${address} is claimed by ${mac} too, since ${since}. The node keeps it and announces it again, at most every 10 s.`,
  }))
  const more = conflicts.length - named.length
  if (more === 0) return named
  return [...named, { code: 'AddressClaimed', message: `So are ${more} further addresses of the node.` }]
}

/**
 * The node's own address on the fabric is gone, with the interface or without: it can neither elect nor speak BGP.
 * @param known the address that others reach it at; null when none was ever known, which the planner says itself
 * @param lacks the node said that it has none
 */
export function fabricProblems(known: string | null, lacks: boolean): NodeStatus['problems'] {
  if (known === null || !lacks) return []
  return [
    { code: 'FabricAddressLost', message: `Its fabric interface is gone or has no address any more: it had ${known}.` },
  ]
}
