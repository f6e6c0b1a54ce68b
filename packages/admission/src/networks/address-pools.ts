import { type AddressPool, parseAs, SpoutError } from '@spout/model'
import {
  cidrContains,
  forbiddenRange,
  forbiddenWithin,
  formatIpRange,
  type IpRange,
  parseCidr,
  parseIp,
  parseIpRange,
  rangesOverlap,
} from '@spout/net'
import {
  type AdmissionContext,
  deleteOf,
  find,
  newMeta,
  putNew,
  putOver,
  timestampOf,
  transact,
} from '../claims/context.ts'
import { requireProject } from '../claims/projects-of.ts'
import {
  type AddressPoolChange,
  type AddressPoolDraft,
  addressPoolChange,
  addressPoolDraft,
} from '../contract/address-admission.ts'
import { isInUse } from '../indexes/admission-index.ts'
import { refuseWideAggregates } from '../nodes/bgp-advertisements.ts'

export async function createAddressPool(context: AdmissionContext, input: AddressPoolDraft): Promise<AddressPool> {
  const draft = parseAs(addressPoolDraft, input)
  return transact(context, (claim) => {
    const pools = context.view.list('addressPool')
    const taken = pools.some((pool) => pool.name === draft.name) || !claim.name(`addressPool/${draft.name}`)
    if (draft.name !== '' && taken)
      throw new SpoutError('NameTaken', { field: 'name', what: 'an address pool', name: draft.name })
    checkRanges(draft, pools)
    refuseWideAggregates(context, draft)
    for (const [index, id] of (draft.projectIds ?? []).entries()) requireProject(context, id, `projectIds[${index}]`)
    const created: AddressPool = { ...draft, ...newMeta(context, draft) }
    return { writes: [putNew('addressPool', created)], result: created }
  })
}

function checkRanges(draft: Pick<AddressPool, 'ranges' | 'cidr' | 'gatewayIp'>, pools: readonly AddressPool[]): void {
  const cidr = parseCidr(draft.cidr)
  const taken: IpRange[] = pools.flatMap((pool) => pool.ranges.map(rangeOf))
  for (const [index, { first, last }] of draft.ranges.entries()) {
    for (const [end, text] of [
      ['first', first],
      ['last', last],
    ] as const) {
      const field = `ranges[${index}].${end}`
      if (!cidrContains(cidr, parseIp(text)))
        throw new SpoutError('AddressOutsideSubnet', { field, address: text, cidr: draft.cidr })
      const why = forbiddenRange(parseIp(text))
      if (why !== null) throw new SpoutError('AddressForbidden', { field, address: text, reason: why })
    }
    if (parseIp(first).value > parseIp(last).value)
      throw new SpoutError('InvalidField', { field: `ranges[${index}].last`, reason: 'comes before first' })
    const range = rangeOf({ first, last })
    const within = forbiddenWithin(range)
    if (within !== null)
      throw new SpoutError('InvalidField', {
        field: `ranges[${index}]`,
        reason: `it holds addresses that are ${within}`,
      })
    const other = taken.find((one) => rangesOverlap(one, range))
    if (other !== undefined)
      throw new SpoutError('InvalidField', {
        field: `ranges[${index}]`,
        reason: `overlaps ${formatIpRange(other)}, which is in an address pool already`,
      })
    taken.push(range)
  }
  if (draft.gatewayIp !== null && !cidrContains(cidr, parseIp(draft.gatewayIp)))
    throw new SpoutError('AddressOutsideSubnet', { field: 'gatewayIp', address: draft.gatewayIp, cidr: draft.cidr })
}

const rangeOf = ({ first, last }: { readonly first: string; readonly last: string }): IpRange =>
  parseIpRange(`${first}-${last}`)

export async function changeAddressPool(
  context: AdmissionContext,
  id: string,
  input: AddressPoolChange,
): Promise<AddressPool> {
  const { draining } = parseAs(addressPoolChange, input)
  return transact(context, () => {
    const stored = find(context, 'addressPool', id, 'address pool')
    if (draining === undefined || draining === stored.value.draining) return { writes: [], result: stored.value }
    const next: AddressPool = { ...stored.value, draining, updatedAt: timestampOf(context.now()) }
    return { writes: [putOver('addressPool', stored, next)], result: next }
  })
}

export async function deleteAddressPool(context: AdmissionContext, id: string): Promise<void> {
  await transact(context, () => {
    const stored = find(context, 'addressPool', id, 'address pool')
    const addresses = context.index.addressesOf(id)
    const used = addresses.filter(isInUse).length
    const inUseBy = (user: string) => new SpoutError('InUse', { what: 'address pool', id: stored.value.name, user })
    if (used > 0) throw inUseBy(`${used} ${used === 1 ? 'address' : 'addresses'} taken from it`)
    const advertisement = context.view
      .list('bgpAdvertisement')
      .find(({ addressPoolIds }) => addressPoolIds?.includes(id) === true)
    if (advertisement !== undefined) throw inUseBy(`BGP advertisement ${advertisement.name}`)
    const resting = addresses.flatMap((address) => context.view.get('address', address.id) ?? [])
    return {
      writes: [deleteOf('addressPool', stored), ...resting.map((address) => deleteOf('address', address))],
      result: undefined,
    }
  })
}
