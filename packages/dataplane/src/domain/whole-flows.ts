import type { DomainEntry } from '@spout/model/node-state'

/**
 * Whether all packets of a flow pass the node that translates it: members answer an address of the node's own. Otherwise
 * requests and replies may pass through different nodes.
 */
export const seesWholeFlows = ({ returnPath, subnets }: Pick<DomainEntry, 'returnPath' | 'subnets'>): boolean =>
  returnPath === 'snat' && subnets.every(({ sharedAddress }) => sharedAddress === null)
