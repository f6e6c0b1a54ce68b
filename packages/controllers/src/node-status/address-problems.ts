import type { AddressConflictReport, NodeStatus } from '@spout/model'

/** How many names a problem lists. A flood of claims must not fill a page. */
const NAMED = 5

/** The node that should announce an address; null where nodes elect it among themselves. */
interface Owned {
  readonly address: string
  readonly ownerNodeId: string | null
}

/**
 * The conflicts that count. An address that moved to another node is left out: until this node lets go of it, it hears
 * the new owner.
 * @param owned at least the claimed addresses; tenants may have the same ones
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

/** Another machine on the wire claims addresses of the node. The node keeps them, and announces them again. */
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
 * The node reports another address than the one that was taken for it: the new one was refused, or was not stored yet.
 * Its neighbours look for it at the earlier one.
 * @param taken the address that was last stored of its reports; null if none was
 * @param reported null if it reports none
 */
export function claimProblems(taken: string | null, reported: string | null): NodeStatus['problems'] {
  if (taken === null || reported === null || reported === taken) return []
  const message = `It reports ${reported} as its own address, but ${taken} is taken for it: ${reported} may be somebody else's. If it is the node's, set network.fabricCidrs, or fabricAddress of the node.`
  return [{ code: 'FabricAddressRefused', message }]
}

/**
 * The node lost its address on the fabric, with or without the interface. So it can neither elect a master nor speak
 * BGP.
 * @param known the address that other nodes use for it; null if none was ever known, which the planner reports itself
 * @param lacks the node reported that it has none
 */
export function fabricProblems(known: string | null, lacks: boolean): NodeStatus['problems'] {
  if (known === null || !lacks) return []
  return [
    { code: 'FabricAddressLost', message: `Its fabric interface is gone or has no address any more: it had ${known}.` },
  ]
}
