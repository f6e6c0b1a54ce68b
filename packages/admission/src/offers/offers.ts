import { isDeepStrictEqual } from 'node:util'
import {
  type AvailabilityZone,
  availabilityZone,
  hasHeaderRoom,
  type LoadBalancerClass,
  MOST_SHARED_HEADER_BYTES,
  parseAs,
  type RequestSizes,
  SpoutError,
  USUAL_MONITOR,
} from '@spout/model'
import type { Claim } from '../claims/claims.ts'
import {
  type AdmissionContext,
  chosenMeta,
  deleteOf,
  find,
  newMeta,
  putNew,
  putOver,
  timestampOf,
  transact,
} from '../claims/context.ts'
import { checkedProjects } from '../claims/projects-of.ts'
import {
  type AvailabilityZoneChange,
  type AvailabilityZoneDraft,
  availabilityZoneDraft,
  type LoadBalancerClassChange,
  type LoadBalancerClassDraft,
  loadBalancerClassChange,
  loadBalancerClassDraft,
} from '../contract/offer-admission.ts'

/**
 * For each kind of offer: the reference in load balancers, its name for people, and the fields that may change while it
 * is used.
 */
const OFFERS = {
  loadBalancerClass: {
    what: 'load balancer class',
    one: 'a load balancer class',
    namedBy: 'classId',
    calledBy: 'id',
    free: ['name', 'description', 'enabled', 'projectIds', 'updatedAt'],
  },
  availabilityZone: {
    what: 'availability zone',
    one: 'an availability zone',
    namedBy: 'zoneId',
    calledBy: 'name',
    free: ['description', 'enabled', 'updatedAt'],
  },
} as const
type OfferKind = keyof typeof OFFERS
interface OfferOf {
  readonly loadBalancerClass: LoadBalancerClass
  readonly availabilityZone: AvailabilityZone
}

export async function createLoadBalancerClass(
  context: AdmissionContext,
  input: LoadBalancerClassDraft,
): Promise<LoadBalancerClass> {
  const { projectIds, monitor, dedicatedProxy, requestSizes, ...draft } = parseAs(loadBalancerClassDraft, input)
  const sizes = storedSizes(requestSizes)
  refuseLargeHeaders({ ...sizes, ...(dedicatedProxy === null ? {} : { dedicatedProxy }) })
  return create(context, 'loadBalancerClass', () => ({
    ...draft,
    ...chosenMeta(context, 'loadBalancerClass', OFFERS.loadBalancerClass.what, draft),
    monitor: monitor && { ...USUAL_MONITOR, ...monitor },
    ...(dedicatedProxy === null ? {} : { dedicatedProxy }),
    ...sizes,
    ...checkedProjects(context, projectIds),
  }))
}

export async function changeLoadBalancerClass(
  context: AdmissionContext,
  id: string,
  input: LoadBalancerClassChange,
): Promise<LoadBalancerClass> {
  const { projectIds, monitor, dedicatedProxy, requestSizes, ...fields } = parseAs(loadBalancerClassChange, input)
  return change(context, 'loadBalancerClass', id, (whole) => {
    const { projectIds: before, dedicatedProxy: proxyBefore, requestSizes: sizesBefore, ...stored } = whole
    const sizes = requestSizes === undefined ? sizesBefore : requestSizes && { ...sizesBefore, ...requestSizes }
    const proxy = dedicatedProxy === undefined ? proxyBefore : dedicatedProxy && { ...proxyBefore, ...dedicatedProxy }
    const engine = { ...(proxy == null ? {} : { dedicatedProxy: proxy }), ...storedSizes(sizes) }
    refuseLargeHeaders(engine)
    return {
      ...stored,
      ...fields,
      monitor: monitor ? { ...USUAL_MONITOR, ...stored.monitor, ...monitor } : monitor === null ? null : stored.monitor,
      ...engine,
      ...checkedProjects(context, projectIds === undefined ? before : projectIds),
      updatedAt: timestampOf(context.now()),
    }
  })
}

/** @throws SpoutError InvalidField */
function refuseLargeHeaders(settings: Parameters<typeof hasHeaderRoom>[0]): void {
  if (hasHeaderRoom(settings)) return
  const reason = `more than ${MOST_SHARED_HEADER_BYTES} needs a dedicatedProxy`
  throw new SpoutError('InvalidField', { field: 'requestSizes.headerBytes', reason })
}

/** The stored form: absent if nothing is limited. */
const storedSizes = (sizes: Partial<RequestSizes> | null | undefined): { readonly requestSizes?: RequestSizes } =>
  sizes == null || ((sizes.headerBytes ?? null) === null && (sizes.bodyBytes ?? null) === null)
    ? {}
    : { requestSizes: { headerBytes: null, bodyBytes: null, ...sizes } }

export async function createAvailabilityZone(
  context: AdmissionContext,
  input: AvailabilityZoneDraft,
): Promise<AvailabilityZone> {
  const draft = parseAs(availabilityZoneDraft, input)
  return create(context, 'availabilityZone', () => ({ ...newMeta(context, draft), ...draft }))
}

export const changeAvailabilityZone = (
  context: AdmissionContext,
  id: string,
  fields: AvailabilityZoneChange,
): Promise<AvailabilityZone> =>
  change(context, 'availabilityZone', id, (stored) =>
    parseAs(availabilityZone, { ...stored, ...fields, updatedAt: timestampOf(context.now()) }),
  )

export async function deleteOffer(context: AdmissionContext, kind: OfferKind, id: string): Promise<void> {
  await transact(context, (claim) => {
    const stored = find(context, kind, id, OFFERS[kind].what)
    refuseUsed(context, claim, kind, stored.value)
    const writes = [deleteOf(kind, stored), ...withoutClass(context, id)]
    return { writes, result: undefined }
  })
}

/** Quotas that name a class, without it. */
const withoutClass = ({ view }: AdmissionContext, id: string) =>
  view.list('quota').flatMap(({ id: projectId }) => {
    const stored = view.get('quota', projectId)
    if (stored?.value.classes?.[id] === undefined) return []
    const { classes, ...quota } = stored.value
    const { [id]: _, ...others } = classes ?? {}
    const rest = Object.keys(others).length === 0 ? {} : { classes: others }
    return [putOver('quota', stored, { ...quota, ...rest })]
  })

const create = <K extends OfferKind>(context: AdmissionContext, kind: K, make: () => OfferOf[K]): Promise<OfferOf[K]> =>
  transact(context, (claim) => {
    const created = make()
    refuseTakenName(context, claim, kind, created)
    refuseUnknownReferences(context, claim, created)
    return { writes: [putNew(kind, created)], result: created }
  })

const change = <K extends OfferKind>(
  context: AdmissionContext,
  kind: K,
  id: string,
  edit: (stored: OfferOf[K]) => OfferOf[K],
): Promise<OfferOf[K]> =>
  transact(context, (claim) => {
    const stored = find(context, kind as OfferKind, id, OFFERS[kind].what)
    const before = stored.value as OfferOf[K]
    const next = edit(before)
    if (next.name !== before.name) refuseTakenName(context, claim, kind, next)
    if (!isDeepStrictEqual(locked(kind, before), locked(kind, next))) {
      refuseUsed(context, claim, kind, before)
      refuseUnknownReferences(context, claim, next)
    }
    return { writes: [putOver(kind, stored, next)], result: next }
  })

const locked = (kind: OfferKind, offer: OfferOf[OfferKind]): object => {
  const free: readonly string[] = OFFERS[kind].free
  return Object.fromEntries(Object.entries(offer).filter(([field]) => !free.includes(field)))
}

/** @throws SpoutError InUse while a load balancer names it, or one that is being written */
function refuseUsed({ view }: AdmissionContext, claim: Claim, kind: OfferKind, offer: OfferOf[OfferKind]): void {
  const { what, namedBy, calledBy } = OFFERS[kind]
  const id = offer[calledBy]
  const user = view.list('loadBalancer').find((each) => each[namedBy] === offer.id)
  if (user !== undefined) throw new SpoutError('InUse', { what, id, user: `load balancer ${user.name || user.id}` })
  if (!claim.leave(`${kind}/${offer.id}`))
    throw new SpoutError('InUse', { what, id, user: 'a load balancer that is being written' })
}

function refuseTakenName(
  { view }: AdmissionContext,
  claim: Claim,
  kind: OfferKind,
  { id, name }: OfferOf[OfferKind],
): void {
  const taken = view.list(kind).some((each) => each.name === name && each.id !== id)
  if (taken || !claim.name(`${kind}/${name}`))
    throw new SpoutError('NameTaken', { field: 'name', what: OFFERS[kind].one, name })
}

/** @throws SpoutError ReferenceNotFound */
function refuseUnknownReferences(
  { view }: AdmissionContext,
  claim: Claim,
  { nodeGroupId, profileId }: OfferOf[OfferKind],
): void {
  if (nodeGroupId !== null && view.get('nodeGroup', nodeGroupId) === null)
    throw new SpoutError('ReferenceNotFound', { field: 'nodeGroupId', what: 'node group', id: nodeGroupId })
  if (profileId === undefined) return
  if (view.get('octaviaProfile', profileId) === null || !claim.use(`octaviaProfile/${profileId}`))
    throw new SpoutError('ReferenceNotFound', { field: 'profileId', what: 'profile', id: profileId })
}
