import type { AddressConflictReport, NodeStatus } from '@spout/model'

/** How many conflicts are listed one by one, so that a flood of claims does not fill a page. */
const NAMED = 5

/** An address and the node that should announce it; null if the nodes elect it. */
interface Owned {
  readonly address: string
  readonly ownerNodeId: string | null
}

/**
 * The conflicts that are problems. An address that moved to another node is left out: until this node releases it, it
 * hears the new owner's announcements.
 * @param owned at least the claimed addresses. Tenants may have equal ones
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

/**
 * Problem: another machine on the segment claims addresses of the node. The node keeps them and announces them again.
 */
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
 * Problem: the node reports another fabric address than the stored one, because the new one was refused or is not
 * stored yet. Other nodes look for it at the stored one.
 * @param taken the address that was last stored from its reports; null if none was
 * @param reported the address that it reports; null if none
 */
export function claimProblems(taken: string | null, reported: string | null): NodeStatus['problems'] {
  if (taken === null || reported === null || reported === taken) return []
  const message = `It reports ${reported} as its own address, but ${taken} is taken for it: ${reported} may be somebody else's. If it is the node's, set network.fabricCidrs, or fabricAddress of the node.`
  return [{ code: 'FabricAddressRefused', message }]
}

/**
 * Problem: the node lost its fabric address, or the whole interface. Then it can neither take part in VRRP nor in BGP.
 * @param known the address that other nodes use for it. Null: none was ever known, which the planner reports itself
 * @param lacks whether the node reported that it has none
 */
export function fabricProblems(known: string | null, lacks: boolean): NodeStatus['problems'] {
  if (known === null || !lacks) return []
  return [
    { code: 'FabricAddressLost', message: `Its fabric interface is gone or has no address any more: it had ${known}.` },
  ]
}
