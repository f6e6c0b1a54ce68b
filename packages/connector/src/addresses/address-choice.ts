import { formatIp, type IpRange, isIp, parseIp, parseIpRange, rangeContains } from '@spout/net'
import { type OrRefusal, refuse, shown } from '../refusal.ts'
import type { AddressFields, AddressRequest, Family } from './address-request.ts'

/** The fields of an address pool that the project may see. */
export interface KnownPool {
  readonly id: string
  readonly name: string
  readonly ranges: readonly { readonly first: string; readonly last: string }[]
}

/** One way to get an address. They are tried in order; the first that the control plane grants is taken. */
export interface AddressCandidate {
  readonly poolId: string
  readonly address: string | null
}

export interface FamilyChoice {
  readonly family: Family
  readonly required: boolean
  readonly candidates: readonly AddressCandidate[]
}

/**
 * Lists where the addresses may come from, by family. An address that the object's status already shows is tried first,
 * so that a control plane that lost its state assigns it again. The status is only a hint, because users can write it.
 *
 * @param defaults names of the pools for objects that name none, in order; empty allows any
 * @param fields the fields in which the object requests addresses
 */
export function chooseAddresses(
  request: AddressRequest,
  pools: readonly KnownPool[],
  defaults: readonly string[],
  shownAddresses: readonly string[],
  fields: AddressFields,
): OrRefusal<readonly FamilyChoice[]> {
  const names = request.pools ?? (defaults.length > 0 ? defaults : null)
  const unknown = (request.pools ?? []).find((name) => !pools.some((pool) => pool.name === name))
  if (unknown !== undefined)
    return refuse('PoolNotFound', fields.pools, `No address pool is named "${shown(unknown)}" for this project.`)
  const allowed =
    names === null
      ? [...pools].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1))
      : names.flatMap((name) => pools.filter((pool) => pool.name === name))
  const choices: FamilyChoice[] = []
  for (const { family, required, address } of request.families) {
    // A requested address may be in any pool that is open to the project, unless the object also names pools.
    const source = address !== null && request.pools === null ? pools : allowed
    const ofFamily = source.filter((pool) => rangesOf(pool).some(({ version }) => version === family))
    const candidates = address === null ? freely(family, ofFamily, shownAddresses) : poolsHolding(address, ofFamily)
    if (candidates.length === 0 && address !== null)
      return refuse(
        'AddressNotInPool',
        fields.addresses,
        `${address} is in none of the address pools it may come from.`,
      )
    if (candidates.length === 0 && required) {
      const which = request.pools === null ? 'No address pool' : 'None of the address pools that it names'
      return refuse('NoAddressPool', fields.pools, `${which} has addresses of family IPv${family}.`)
    }
    if (candidates.length > 0) choices.push({ family, required, candidates })
  }
  return { value: choices }
}

/** The pools that contain this address. */
export const poolsHolding = (address: string, pools: readonly KnownPool[]): readonly AddressCandidate[] =>
  pools.filter((pool) => holds(pool, address)).map(({ id }) => ({ poolId: id, address }))

function freely(
  family: Family,
  pools: readonly KnownPool[],
  shownAddresses: readonly string[],
): readonly AddressCandidate[] {
  const before = shownAddresses
    .filter(isIp)
    .map(parseIp)
    .find(({ version }) => version === family)
  const again = before === undefined ? [] : poolsHolding(formatIp(before), pools)
  return [...again, ...pools.map(({ id }) => ({ poolId: id, address: null }))]
}

const rangesOf = (pool: KnownPool): readonly IpRange[] =>
  pool.ranges.map(({ first, last }) => parseIpRange(`${first}-${last}`))

const holds = (pool: KnownPool, address: string): boolean => {
  const ip = parseIp(address)
  return rangesOf(pool).some((range) => rangeContains(range, ip))
}

/** An address that a load balancer has now. */
export interface HeldAddress {
  readonly address: string
  readonly poolId: string | null
}

/**
 * Whether an address that the load balancer has satisfies the request. It does unless the request names another
 * address, or pools that do not contain it.
 */
export function isAsRequested(held: HeldAddress, request: AddressRequest, pools: readonly KnownPool[]): boolean {
  const { version } = parseIp(held.address)
  const family = request.families.find((one) => one.family === version)
  if (family === undefined) return false
  if (family.address !== null) return family.address === held.address
  if (request.pools === null) return true
  const pool = pools.find(({ id }) => id === held.poolId)
  // The address stays when the project can no longer see its pool.
  return pool === undefined || request.pools.includes(pool.name)
}
