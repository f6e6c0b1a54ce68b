import { isDeepStrictEqual } from 'node:util'
import { type Address, nameText, parseAs, SpoutError, uuid } from '@spout/model'
import { z } from 'zod'
import { type AdmissionContext, putOver, timestampOf, transact } from '../claims/context.ts'
import { type AddressText, addressText } from '../contract/address-admission.ts'
import type { VipRequest } from '../contract/load-balancer-admission.ts'
import { ownWrite, releaseWrite, takeAddress } from '../nodes/addresses.ts'
import { vipRequest } from './load-balancer-draft.ts'
import type { LoadBalancers } from './load-balancers.ts'

const reservation = z.strictObject({
  portId: uuid.optional(),
  name: nameText,
  description: z.string().max(255),
})

/** Reserves an address for later use: a port or a floating IP. */
export async function reserveAddress(
  context: AdmissionContext,
  projectId: string,
  request: VipRequest,
  use: 'port' | 'floating',
  inputText: { readonly portId?: string; readonly name: string; readonly description: string },
): Promise<Address> {
  const parsed = parseAs(vipRequest, request)
  const words = parseAs(reservation, inputText)
  if (parsed.from === 'port')
    throw new SpoutError('InvalidField', { field: 'from', reason: 'a port cannot be reserved from a port' })
  if (use === 'floating' && parsed.from !== 'pool')
    throw new SpoutError('InvalidField', { field: 'from', reason: 'a floating IP comes from an address pool' })
  return transact(context, (claim) => {
    if (context.view.get('project', projectId) === null)
      throw new SpoutError('ReferenceNotFound', { field: 'projectId', what: 'project', id: projectId })
    const { portId } = words
    if (portId !== undefined && (context.view.addressByPort(portId) !== null || !claim.name(`port/${portId}`)))
      throw new SpoutError('AlreadyExists', { what: use === 'port' ? 'Port' : 'FloatingIP', id: portId })
    const { address, write } = takeAddress(context, claim, parsed, '', { projectId, use, ownerId: null, ...words })
    return { writes: [write], result: address }
  })
}

const addressOf = (context: AdmissionContext, portId: string, what: string): Address => {
  const address = context.view.addressByPort(portId)
  if (address === null) throw new SpoutError('NotFound', { what, id: portId })
  return address
}

/** Changes name, description and tags of an address; nothing is written if they stay. */
export async function changeAddressText(
  context: AdmissionContext,
  portId: string,
  change: (current: Address) => AddressText,
): Promise<Address> {
  return transact(context, () => {
    const current = addressOf(context, portId, 'port')
    const stored = context.view.get('address', current.id)
    if (stored === null) throw new SpoutError('NotFound', { what: 'port', id: portId })
    const fields = Object.entries(parseAs(addressText, change(current))).filter(([, value]) => value !== undefined)
    const next: Address = { ...current, ...Object.fromEntries(fields) }
    if (isDeepStrictEqual(next, current)) return { writes: [], result: current }
    const dated = { ...next, updatedAt: timestampOf(context.now()) }
    return { writes: [putOver('address', stored, dated)], result: dated }
  })
}

/** Binds a floating IP to a port and the port's load balancer, if it has one; null unbinds it. */
export async function bindFloating(
  context: AdmissionContext,
  loadBalancers: LoadBalancers,
  portId: string,
  targetPortId: string | null,
): Promise<Address> {
  const floating = addressOf(context, portId, 'floating IP')
  if (floating.use !== 'floating') throw new SpoutError('NotFound', { what: 'floating IP', id: portId })
  if (floating.ownerId === targetPortId) return floating
  const target = targetPortId === null ? null : bindingTarget(context, floating, targetPortId)
  const [from, to] = [carrierOf(context, floating), target?.ownerId ?? null]
  if (from !== null && to !== null && target !== null && from !== to)
    await loadBalancers.moveFloating(from, to, floating, target.portId)
  else {
    if (floating.ownerId !== null) await unbind(context, loadBalancers, floating)
    if (target !== null) {
      if (to !== null) await loadBalancers.bindFloating(to, floating, target.portId)
      else await own(context, portId, target.portId)
    }
  }
  return addressOf(context, portId, 'floating IP')
}

/** The load balancer that a floating IP is bound to. */
const carrierOf = ({ view }: AdmissionContext, { ownerId }: Address): string | null =>
  ownerId === null ? null : (view.addressByPort(ownerId)?.ownerId ?? null)

function bindingTarget(context: AdmissionContext, floating: Address, targetPortId: string): Address {
  const target = context.view.addressByPort(targetPortId)
  const fits =
    target !== null && target.projectId === floating.projectId && (target.use === 'vip' || target.use === 'port')
  if (!fits) throw new SpoutError('ReferenceNotFound', { field: 'targetPortId', what: 'port', id: targetPortId })
  return target
}

async function unbind(context: AdmissionContext, loadBalancers: LoadBalancers, floating: Address): Promise<void> {
  const carrier = carrierOf(context, floating)
  if (carrier !== null) await loadBalancers.unbindFloating(carrier, floating)
  else await own(context, floating.portId, null)
}

async function own(context: AdmissionContext, portId: string, ownerId: string | null): Promise<void> {
  await transact(context, () => ({
    writes: ownWrite(context, addressOf(context, portId, 'floating IP'), ownerId),
    result: undefined,
  }))
}

/** Releases a reserved address. A floating IP is unbound first; a port in use is refused. */
export async function releaseAddress(
  context: AdmissionContext,
  loadBalancers: LoadBalancers,
  portId: string,
): Promise<void> {
  const address = addressOf(context, portId, 'port')
  if (address.use === 'floating' && address.ownerId !== null) await unbind(context, loadBalancers, address)
  await transact(context, () => {
    const current = addressOf(context, portId, 'port')
    if (current.use !== 'port' && current.use !== 'floating')
      throw new SpoutError('InUse', { what: 'port', id: portId, user: current.ownerId ?? 'its network' })
    if (current.ownerId !== null) throw new SpoutError('InUse', { what: 'port', id: portId, user: current.ownerId })
    const bound = context.index.floatingOf(portId).flatMap((floating) => ownWrite(context, floating, null))
    return { writes: [...releaseWrite(context, current), ...bound], result: undefined }
  })
}
