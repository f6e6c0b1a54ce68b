import { Refused } from '@spout/client/native-api'
import { parseIp } from '@spout/net'
import { isAsRequested } from '../addresses/address-choice.ts'
import type { FamilyRequest } from '../addresses/address-request.ts'
import { firstGranted } from '../addresses/grants.ts'
import type { ShownLoadBalancer } from '../control-plane/load-balancer-service.ts'
import type { Refusal } from '../refusal.ts'
import { choicesOf } from './choices.ts'
import type { AddressContext, WantedAddresses } from './wanted.ts'

export interface BroughtFamilies {
  readonly shown: ShownLoadBalancer
  /** Why a required family is missing; null when none is. */
  readonly refusal: Refusal | null
}

/**
 * Adds addresses of missing families and removes those that are no longer requested. The first address stays.
 * @param others addresses of the load balancer that are not part of the request
 * @throws Refused, Unsatisfiable
 */
export async function bringFamilies(
  context: AddressContext,
  wanted: WantedAddresses,
  shown: ShownLoadBalancer,
  others: readonly string[],
): Promise<BroughtFamilies> {
  const { request } = wanted
  const { document } = shown
  const familyOf = (address: string) => parseIp(address).version
  const pools = request.pools === null ? [] : await context.pools()
  const own = document.vips.filter(({ address }) => !others.includes(address))
  const leaving = own.slice(1).filter((vip) => !isAsRequested(vip, request, pools))
  const kept = own.filter((vip) => !leaving.includes(vip))
  const missing = request.families.filter(({ family }) => !kept.some(({ address }) => familyOf(address) === family))
  if (leaving.length === 0 && missing.length === 0) return { shown, refusal: null }
  let now = shown
  for (const { address } of leaving) {
    now = await context.service.removeVip(document.id, address)
    context.known.answered(now)
  }
  return addFamilies(context, wanted, now, missing)
}

/** Adds families. An optional family that is refused is left out. */
async function addFamilies(
  context: AddressContext,
  wanted: WantedAddresses,
  shown: ShownLoadBalancer,
  missing: readonly FamilyRequest[],
): Promise<BroughtFamilies> {
  let now = shown
  let refusal: Refusal | null = null
  const choices = missing.length === 0 ? [] : await choicesOf(context, wanted)
  for (const { family, required } of missing) {
    const choice = choices.find((one) => one.family === family)
    if (choice === undefined) continue
    try {
      now = await firstGranted(choice, (vip) => context.service.addVip(shown.document.id, vip))
      context.known.answered(now)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      if (required) refusal = wanted.inOwnWords(error)
    }
  }
  return { shown: now, refusal }
}
