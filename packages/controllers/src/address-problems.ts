import type { AddressConflictReport, NodeStatus } from '@spout/model'

/** A problem each up to so many; a flood of claims must not fill a page. */
const NAMED = 5

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
