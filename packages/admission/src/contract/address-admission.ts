import { type Address, type AddressPool, addressPool, addressTags, nameText } from '@spout/model'
import { z } from 'zod'
import type { VipRequest } from './load-balancer-admission.ts'

export const addressPoolDraft = addressPool.omit({ id: true, createdAt: true, updatedAt: true })
export type AddressPoolDraft = z.input<typeof addressPoolDraft>

/** The only changes of a pool. Other ranges could exclude addresses in use. */
export const addressPoolChange = z.strictObject({ draining: z.boolean().optional() })
export type AddressPoolChange = z.input<typeof addressPoolChange>

/** A project's own notes on an address. Nothing depends on them. */
export const addressText = z
  .strictObject({ name: nameText, description: z.string().max(255), tags: addressTags })
  .partial()
export type AddressText = z.input<typeof addressText>

/** Writes of address pools, and of addresses without a load balancer. */
export interface AddressAdmission {
  createAddressPool(draft: AddressPoolDraft): Promise<AddressPool>
  /** Fields that are absent keep their values. */
  changeAddressPool(id: string, change: AddressPoolChange): Promise<AddressPool>
  deleteAddressPool(id: string): Promise<void>

  /**
   * Reserves an address without a load balancer: a port (tenant subnet or pool) or a floating IP (pool).
   * @param text with the id of its port, when it was another system's before
   * @throws SpoutError AlreadyExists for an id that is taken
   */
  reserveAddress(
    projectId: string,
    request: VipRequest,
    use: 'port' | 'floating',
    text: { readonly portId?: string; readonly name: string; readonly description: string },
  ): Promise<Address>
  /**
   * Changes what its project wrote on an address. Fields that are absent keep their values.
   * @param change computed from the stored address, and again if another writer was faster
   * @throws SpoutError NotFound, InvalidField
   */
  changeAddressText(portId: string, change: (current: Address) => AddressText): Promise<Address>
  /** Binds a floating IP to the load balancer whose VIP has this port, as an additional VIP; null unbinds it. */
  bindFloating(portId: string, targetPortId: string | null): Promise<Address>
  releaseAddress(portId: string): Promise<void>
}
