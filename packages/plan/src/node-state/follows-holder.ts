import { isProxied, type LoadBalancer, type Network } from '@spout/model'

/**
 * Whether a load balancer's requests must come to the node that its members' replies come to: the one that holds their
 * gateway, or with return path `snat` the address that they see. Elsewhere the kernel could not track a connection whose
 * two directions take different nodes. A proxy has its connections to members from its node's own address.
 */
export function followsHolder(
  { listeners }: Pick<LoadBalancer, 'listeners'>,
  { returnPath }: Pick<Network, 'returnPath'>,
): boolean {
  if (returnPath === 'gateway') return true
  const isAllProxied = listeners.length > 0 && listeners.every(({ protocol }) => isProxied(protocol))
  return returnPath === 'snat' && !isAllProxied
}
