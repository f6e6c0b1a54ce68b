import { LOCAL_DOMAIN } from '@spout/model/local-entries'
import type { DomainEntry } from '@spout/model/node-state'

/**
 * Whether all packets of a flow pass the node that translates it: members answer an address of the node's own. Otherwise
 * requests and replies may pass through different nodes. Of the domain of nodes' own settings nothing is assumed: its
 * flows are sent to no other node.
 */
export const seesWholeFlows = ({
  number,
  returnPath,
  subnets,
}: Pick<DomainEntry, 'number' | 'returnPath' | 'subnets'>): boolean =>
  number !== LOCAL_DOMAIN && returnPath === 'snat' && subnets.every(({ sharedAddress }) => sharedAddress === null)
