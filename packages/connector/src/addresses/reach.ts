import { type Refusal, shown } from '../refusal.ts'
import type { AddressRequest, Family } from './address-request.ts'

/** A network of the project, reduced to the address families of its members. */
export interface KnownNetwork {
  readonly id: string
  readonly name: string
  /** Families of its subnets. */
  readonly families: readonly Family[]
}

/**
 * The families that members can have in any of the networks, IPv4 first.
 * @param otherwise the result while no network has a subnet
 */
export function memberFamilies(networks: readonly KnownNetwork[], otherwise: readonly Family[]): readonly Family[] {
  const families = new Set(networks.flatMap((network) => network.families))
  return families.size === 0 ? otherwise : [...families].sort()
}

/** Families that no member can have, with the refusal to report. */
export type Unreachable = ReadonlyMap<Family, Refusal>

export const ALL_REACHABLE: Unreachable = new Map()

/**
 * The families of an object that no member can have. A member has an address in a subnet or behind a router in one, and
 * all members of a load balancer are in one network.
 *
 * @param families of the object, the primary one first
 * @param networks of the project; empty refuses nothing here, because the members are then refused with that reason
 * @param field the field in which the object names its families
 */
export function unreachableFamilies(
  families: readonly Family[],
  networks: readonly KnownNetwork[],
  field: string,
): Unreachable {
  const [primary] = families
  if (primary === undefined || networks.length === 0) return ALL_REACHABLE
  const ofPrimary = networks.filter((network) => network.families.includes(primary))
  // If no network has the primary family, the object does not work at all. Then any network may have the others.
  const candidates = ofPrimary.length > 0 ? ofPrimary : networks
  const missing = families.filter((family) => !candidates.some((network) => network.families.includes(family)))
  if (missing.length === 0) return ALL_REACHABLE
  return new Map(missing.map((family) => [family, refusalOf(family, candidates, field)]))
}

const MOST_NAMED = 3

function refusalOf(family: Family, networks: readonly KnownNetwork[], field: string): Refusal {
  const names = networks.slice(0, MOST_NAMED).map(({ name, id }) => `"${shown(name === '' ? id : name)}"`)
  const more = networks.length > MOST_NAMED ? ` (and ${networks.length - MOST_NAMED} more)` : ''
  const what = networks.length === 1 ? 'Network' : 'None of the networks'
  const has = networks.length === 1 ? `has no IPv${family} subnet` : `has an IPv${family} subnet`
  return {
    reason: 'NoSubnet',
    field,
    message: `${what} ${names.join(', ')}${more} ${has}: clients of an IPv${family} address would be refused.`,
  }
}

/** The request without optional families that no network has. */
export function reachableRequest(request: AddressRequest, unreachable: Unreachable): AddressRequest {
  if (unreachable.size === 0) return request
  return {
    ...request,
    families: request.families.filter(({ family, required }) => required || !unreachable.has(family)),
  }
}

/** Why a required family cannot be had; null when all can. */
export function requiredButUnreachable({ families }: AddressRequest, unreachable: Unreachable): Refusal | null {
  const missing = families.find(({ family, required }) => required && unreachable.has(family))
  return missing === undefined ? null : (unreachable.get(missing.family) ?? null)
}

/** Why an optional family is left out; null when none is. */
export function leftOutFamily({ families }: AddressRequest, unreachable: Unreachable): Refusal | null {
  const missing = families.find(({ family, required }) => !required && unreachable.has(family))
  return missing === undefined ? null : (unreachable.get(missing.family) ?? null)
}
