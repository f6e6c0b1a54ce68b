import { isProxied, type LoadBalancer, type Network } from '@spout/model'

/**
 * Whether requests and replies of a load balancer must pass through the same node. The kernel cannot track a connection
 * whose directions take different nodes, and replies reach the node that has the members' gateway address or, with
 * return path `snat`, the source address that members see. With return path `snat`, proxied listeners are an exception:
 * a proxy connects to members from its node's own address.
 */
export function needsSymmetricPath(
  { listeners }: Pick<LoadBalancer, 'listeners'>,
  { returnPath }: Pick<Network, 'returnPath'>,
): boolean {
  if (returnPath === 'gateway') return true
  const isAllProxied = listeners.length > 0 && listeners.every(({ protocol }) => isProxied(protocol))
  return returnPath === 'snat' && !isAllProxied
}
