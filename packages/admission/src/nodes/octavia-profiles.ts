import { type OctaviaProfile, octaviaProfile, parseAs, SpoutError } from '@spout/model'
import type { Claim } from '../claims/claims.ts'
import {
  type AdmissionContext,
  chosenMeta,
  deleteOf,
  find,
  putNew,
  putOver,
  timestampOf,
  transact,
} from '../claims/context.ts'
import {
  type OctaviaProfileChange,
  type OctaviaProfileDraft,
  octaviaProfileDraft,
} from '../contract/offer-admission.ts'

const WHAT = { loadBalancerClass: 'Flavor profile', availabilityZone: 'Availability Zone Profile' } as const

export async function createOctaviaProfile(
  context: AdmissionContext,
  input: OctaviaProfileDraft,
): Promise<OctaviaProfile> {
  const draft = parseAs(octaviaProfileDraft, input)
  return transact(context, () => {
    const created = { ...draft, ...chosenMeta(context, 'octaviaProfile', WHAT[draft.of], draft) }
    return { writes: [putNew('octaviaProfile', created)], result: created }
  })
}

export const changeOctaviaProfile = (
  context: AdmissionContext,
  id: string,
  change: OctaviaProfileChange,
): Promise<OctaviaProfile> =>
  transact(context, (claim) => {
    const stored = find(context, 'octaviaProfile', id, 'profile')
    if (change.provider !== undefined || change.data !== undefined) refuseUsed(context, claim, stored.value)
    const next = parseAs(octaviaProfile, { ...stored.value, ...change, updatedAt: timestampOf(context.now()) })
    return { writes: [putOver('octaviaProfile', stored, next)], result: next }
  })

export async function deleteOctaviaProfile(context: AdmissionContext, id: string): Promise<void> {
  await transact(context, (claim) => {
    const stored = find(context, 'octaviaProfile', id, 'profile')
    refuseUsed(context, claim, stored.value)
    return { writes: [deleteOf('octaviaProfile', stored)], result: undefined }
  })
}

/** @throws SpoutError InUse while a class or a zone was made of it, or one is being made */
function refuseUsed({ view }: AdmissionContext, claim: Claim, { id, of }: OctaviaProfile): void {
  const user = view.list(of).find(({ profileId }) => profileId === id)
  if (user !== undefined || !claim.leave(`octaviaProfile/${id}`))
    throw new SpoutError('InUse', { what: WHAT[of], id, user: user?.name ?? 'one that is being made' })
}
