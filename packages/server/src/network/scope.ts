import type { ObjectOf, Principal } from '@spout/admission/contract'
import { type Address, type AddressPool, type Network, SpoutError, type Subnet } from '@spout/model'
import { isAdmin, listScope, mayKnow } from '../authn/access.ts'
import type { NetworkContext } from './context.ts'

export const networksOf = ({ view }: NetworkContext, principal: Principal): readonly Network[] =>
  view.list('network', listScope(principal))

/** Address pools that the caller may use. */
export const poolsOf = ({ view }: NetworkContext, principal: Principal): readonly AddressPool[] =>
  view
    .list('addressPool')
    .filter(
      (pool) => isAdmin(principal) || pool.projectIds === null || pool.projectIds.includes(principal.projectId ?? ''),
    )

/** Addresses in use. Those in quarantine belong to nobody. */
export const addressesOf = ({ view }: NetworkContext, principal: Principal): readonly ObjectOf<'address'>[] =>
  view.list('address', listScope(principal)).filter((address) => address.quarantineUntil === null)

export function networkOrPool(
  context: NetworkContext,
  principal: Principal,
  id: string,
): { readonly network: Network } | { readonly pool: AddressPool } {
  const network = context.view.get('network', id)?.value
  if (network !== undefined && mayKnow(principal, network.projectId)) return { network }
  const pool = poolsOf(context, principal).find((known) => known.id === id)
  if (pool === undefined) throw new SpoutError('NotFound', { what: 'Network', id })
  return { pool }
}

export function ownNetwork(context: NetworkContext, principal: Principal, id: string): Network {
  const found = networkOrPool(context, principal, id)
  if ('network' in found) return found.network
  throw new SpoutError('Forbidden', {
    reason: 'an external network is changed as an address pool, by an administrator',
  })
}

export function ownSubnet(
  context: NetworkContext,
  principal: Principal,
  id: string,
): { readonly network: Network; readonly subnet: Subnet } {
  for (const network of networksOf(context, principal)) {
    const subnet = network.subnets.find((known) => known.id === id)
    if (subnet !== undefined) return { network, subnet }
  }
  throw new SpoutError('NotFound', { what: 'Subnet', id })
}

export function ownAddress(
  { view }: NetworkContext,
  principal: Principal,
  id: string,
  what: 'Port' | 'FloatingIP',
): Address {
  const address = view.addressByPort(id)
  const known = address !== null && address.quarantineUntil === null && mayKnow(principal, address.projectId)
  if (!known || (what === 'FloatingIP' && address.use !== 'floating')) throw new SpoutError('NotFound', { what, id })
  return address
}
