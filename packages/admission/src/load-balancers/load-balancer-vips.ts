import { type Address, type LoadBalancer, SpoutError, type Vip } from '@spout/model'
import type { Write } from '@spout/store'
import type { Claim } from '../claims/claims.ts'
import type { AdmissionContext } from '../claims/context.ts'
import type { VipRequest } from '../contract/load-balancer-admission.ts'
import { ownWrite, releaseWrite, takeAddress } from '../nodes/addresses.ts'

export interface PlannedVips {
  readonly vips: readonly Vip[]
  readonly writes: readonly Write[]
}

export const vipOf = (address: Address): Vip => ({
  addressId: address.portId,
  address: address.address,
  scope: address.scope,
  poolId: address.scope === 'fabric' ? address.holderId : null,
  networkId: address.scope === 'tenant' ? address.holderId : null,
  subnetId: address.subnetId,
})

/** Takes the addresses of a new load balancer, and the floating IPs that are already bound to its ports. */
export function planVips(
  context: AdmissionContext,
  claim: Claim,
  loadBalancer: Pick<LoadBalancer, 'id' | 'projectId' | 'pools'>,
  requests: readonly VipRequest[],
): PlannedVips {
  const vips: Vip[] = []
  const floating: Vip[] = []
  const writes: Write[] = []
  const members = new Set(loadBalancer.pools.flatMap((pool) => pool.members.map(({ address }) => address)))
  for (const [index, request] of requests.entries()) {
    const path = `vips[${index}].`
    if (request.from === 'port') {
      const port = ownPort(context, loadBalancer.projectId, request.portId, `${path}portId`)
      if (vips.some((vip) => vip.addressId === port.portId))
        throw new SpoutError('InvalidField', { field: `${path}portId`, reason: 'is named twice' })
      vips.push(vipOf(port))
      floating.push(...context.index.floatingOf(port.portId).map(vipOf))
      writes.push(...ownWrite(context, port, loadBalancer.id))
      continue
    }
    const use = {
      projectId: loadBalancer.projectId,
      use: 'vip',
      ownerId: loadBalancer.id,
      name: '',
      description: '',
      members,
    } as const
    const { address, write } = takeAddress(context, claim, request, path, use)
    vips.push(vipOf(address))
    writes.push(write)
  }
  return { vips: [...vips, ...floating], writes }
}

function ownPort(context: AdmissionContext, projectId: string, portId: string, field: string): Address {
  const port = context.view.addressByPort(portId)
  if (port === null || port.projectId !== projectId || port.use !== 'port')
    throw new SpoutError('ReferenceNotFound', { field, what: 'port', id: portId })
  if (port.ownerId !== null) throw new SpoutError('InUse', { what: 'port', id: portId, user: port.ownerId })
  return port
}

/**
 * Releases the addresses of a deleted load balancer. Its own go into quarantine; the user's ports and floating IPs
 * remain.
 */
export function releaseVips(context: AdmissionContext, loadBalancer: LoadBalancer): readonly Write[] {
  const addresses = loadBalancer.vips.flatMap((vip) => context.view.addressByPort(vip.addressId) ?? [])
  const leaving = new Set(addresses.flatMap(({ use, portId }) => (use === 'vip' ? [portId] : [])))
  return addresses.flatMap((address) => {
    if (address.use === 'vip') return releaseWrite(context, address)
    if (address.use === 'port') return ownWrite(context, address, null)
    // A floating IP stays bound to a port that remains.
    return address.ownerId !== null && leaving.has(address.ownerId) ? ownWrite(context, address, null) : []
  })
}
