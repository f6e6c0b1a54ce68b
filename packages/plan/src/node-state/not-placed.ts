import type { LoadBalancer } from '@spout/model'
import type { Reason } from '../reason.ts'

/** Why no node carries a load balancer without a network. */
export const NO_NETWORK: Reason = {
  code: 'NoNetwork',
  message: 'No network is known yet for its members: it is carried once it has a member or a network.',
}

/** Why a load balancer has no placement. */
export const whyNotPlaced = ({ networkId, localName }: Pick<LoadBalancer, 'networkId' | 'localName'>): Reason =>
  localName !== undefined
    ? { code: 'OwnSettings', message: `Its nodes carry it by their own settings, local.loadBalancers.${localName}.` }
    : networkId === null
      ? NO_NETWORK
      : { code: 'NotPlannedYet', message: 'It is not planned yet.' }
