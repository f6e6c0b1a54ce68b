import { type AddressPool, type BgpAdvertisementIntent, PLAIN_ADVERTISEMENT, parseAs, SpoutError } from '@spout/model'
import { parseCidr } from '@spout/net'
import type { Claim } from '../claims/claims.ts'
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
import {
  type BgpAdvertisementChange,
  type BgpAdvertisementDraft,
  bgpAdvertisementDraft,
} from '../contract/bgp-admission.ts'

const HIGHEST_NUMBER = 1000

export async function createBgpAdvertisement(
  context: AdmissionContext,
  input: BgpAdvertisementDraft,
): Promise<BgpAdvertisementIntent> {
  const draft = parseAs(bgpAdvertisementDraft, input)
  return transact(context, (claim) => {
    const meta = newMeta(context, draft)
    check(context, claim, { ...draft, id: meta.id })
    const created: BgpAdvertisementIntent = { ...draft, ...meta, number: freeNumber(context, claim) }
    return { writes: [putNew('bgpAdvertisement', created)], result: created }
  })
}

export async function changeBgpAdvertisement(
  context: AdmissionContext,
  id: string,
  change: BgpAdvertisementChange,
): Promise<BgpAdvertisementIntent> {
  return transact(context, (claim) => {
    const stored = find(context, 'bgpAdvertisement', id, 'BGP advertisement')
    const { createdAt, updatedAt: _, id: _id, number, ...before } = stored.value
    const draft = parseAs(bgpAdvertisementDraft, { ...before, ...change })
    check(context, claim, { ...draft, id })
    const next: BgpAdvertisementIntent = { ...draft, id, number, createdAt, updatedAt: timestampOf(context.now()) }
    return { writes: [putOver('bgpAdvertisement', stored, next)], result: next }
  })
}

export async function deleteBgpAdvertisement(context: AdmissionContext, id: string): Promise<void> {
  await transact(context, () => {
    const stored = find(context, 'bgpAdvertisement', id, 'BGP advertisement')
    return { writes: [deleteOf('bgpAdvertisement', stored)], result: undefined }
  })
}

type Checked = Omit<BgpAdvertisementIntent, 'createdAt' | 'updatedAt' | 'number'>

function check(context: AdmissionContext, claim: Claim, draft: Checked): void {
  const { view } = context
  const others = view.list('bgpAdvertisement').filter(({ id }) => id !== draft.id)
  if (others.some(({ name }) => name === draft.name) || !claim.name(`bgpAdvertisement/${draft.name}`))
    throw new SpoutError('NameTaken', { field: 'name', what: 'a BGP advertisement', name: draft.name })
  for (const [index, id] of (draft.peerIds ?? []).entries()) {
    const field = `peerIds[${index}]`
    const peer = view.get('bgpPeer', id)?.value
    if (peer === undefined) throw new SpoutError('ReferenceNotFound', { field, what: 'BGP peer', id })
    if (peer.template) throw new SpoutError('InvalidField', { field, reason: `BGP peer ${peer.name} is a template` })
  }
  for (const [index, id] of (draft.addressPoolIds ?? []).entries()) {
    const field = `addressPoolIds[${index}]`
    if (view.get('addressPool', id) === null)
      throw new SpoutError('ReferenceNotFound', { field, what: 'address pool', id })
    const other = others.find(({ addressPoolIds }) => addressPoolIds?.includes(id) === true)
    if (other !== undefined || !claim.name(`bgpAdvertisement/pool/${id}`))
      throw new SpoutError('InvalidField', {
        field,
        reason: `${other === undefined ? 'another' : `BGP advertisement ${other.name}`} is for this pool already`,
      })
  }
  const rest = draft.addressPoolIds === null ? others.find(({ addressPoolIds }) => addressPoolIds === null) : undefined
  if (rest !== undefined || (draft.addressPoolIds === null && !claim.name('bgpAdvertisement/rest')))
    throw new SpoutError('InvalidField', {
      field: 'addressPoolIds',
      reason: `${rest === undefined ? 'another' : `BGP advertisement ${rest.name}`} is for all pools that no other names already`,
    })
  for (const pool of view.list('addressPool'))
    if (draft.addressPoolIds === null || draft.addressPoolIds.includes(pool.id)) refuseWideAggregate(draft, pool)
}

/** A prefix wider than the pool's subnet would draw traffic for addresses that are not ours. */
function refuseWideAggregate(draft: Checked, pool: Pick<AddressPool, 'name' | 'cidr'>): void {
  const cidr = parseCidr(pool.cidr)
  const [field, length] =
    cidr.version === 4
      ? (['aggregateLength4', draft.aggregateLength4] as const)
      : (['aggregateLength6', draft.aggregateLength6] as const)
  if (length !== null && length < cidr.prefix)
    throw new SpoutError('InvalidField', {
      field,
      reason: `/${length} is wider than ${pool.cidr}, the subnet of address pool ${pool.name}`,
    })
}

/** Checks a new pool: no advertisement that applies to it may announce more than its subnet. @throws SpoutError */
export function refuseWideAggregates({ view }: AdmissionContext, pool: Pick<AddressPool, 'name' | 'cidr'>): void {
  for (const one of view.list('bgpAdvertisement'))
    if (one.addressPoolIds === null)
      try {
        refuseWideAggregate(one, pool)
      } catch (error) {
        if (!(error instanceof SpoutError)) throw error
        throw new SpoutError('InvalidField', {
          field: 'cidr',
          reason: `BGP advertisement ${one.name} would announce a wider prefix for it`,
        })
      }
}

function freeNumber({ view }: AdmissionContext, claim: Claim): number {
  const used = new Set(view.list('bgpAdvertisement').map(({ number }) => number))
  for (let number = PLAIN_ADVERTISEMENT + 1; number <= HIGHEST_NUMBER; number++)
    if (!used.has(number) && claim.name(`bgpAdvertisement/number/${number}`)) return number
  throw new SpoutError('Unavailable', { what: 'A BGP advertisement number', reason: 'all are in use' })
}
