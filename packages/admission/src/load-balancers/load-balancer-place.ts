import { type LoadBalancer, mayUseClass, mayUseGroup, SpoutError, type Vip } from '@spout/model'
import type { Claim } from '../claims/claims.ts'
import type { AdmissionContext } from '../claims/context.ts'
import type { LoadBalancerDraft } from '../contract/load-balancer-admission.ts'

type Placed = Pick<LoadBalancer, 'nodeGroupId' | 'classId' | 'zoneId'>

/**
 * The node group of a new load balancer: the one that it names, or that its class or its zone names. What is closed to
 * its project looks as if it did not exist.
 * @throws SpoutError ReferenceNotFound; InvalidField for a disabled class or zone, and where two name different groups
 */
export function placeOf(context: AdmissionContext, claim: Claim, draft: LoadBalancerDraft): Placed {
  const { projectId, nodeGroupId, classId, zoneId } = draft
  const named = [
    ...(nodeGroupId === null ? [] : [ownGroup(context, projectId, nodeGroupId)]),
    ...(classId === undefined ? [] : [groupOfClass(context, claim, projectId, classId)]),
    ...(zoneId === undefined ? [] : [groupOfZone(context, claim, zoneId)]),
  ].filter(({ id }) => id !== null)
  const [first] = named
  const other = named.find(({ id }) => id !== first?.id)
  if (first !== undefined && other !== undefined)
    throw new SpoutError('InvalidField', {
      field: other.field,
      reason: `names another node group than ${first.field}`,
    })
  return {
    nodeGroupId: first?.id ?? null,
    ...(classId !== undefined && { classId }),
    ...(zoneId !== undefined && { zoneId }),
  }
}

interface NamedGroup {
  readonly field: string
  readonly id: string | null
}

function ownGroup({ view }: AdmissionContext, projectId: string, id: string): NamedGroup {
  const group = view.get('nodeGroup', id)
  if (group === null || !mayUseGroup(group.value, projectId))
    throw new SpoutError('ReferenceNotFound', { field: 'nodeGroupId', what: 'node group', id })
  return { field: 'nodeGroupId', id }
}

function groupOfClass({ view }: AdmissionContext, claim: Claim, projectId: string, id: string): NamedGroup {
  const field = 'classId'
  const found = view.get('loadBalancerClass', id)?.value
  if (found === undefined || !mayUseClass(found, projectId) || !claim.use(`loadBalancerClass/${id}`))
    throw new SpoutError('ReferenceNotFound', { field, what: 'load balancer class', id })
  if (!found.enabled) throw new SpoutError('InvalidField', { field, reason: `class ${found.name} is disabled` })
  return { field, id: found.nodeGroupId }
}

function groupOfZone({ view }: AdmissionContext, claim: Claim, id: string): NamedGroup {
  const field = 'zoneId'
  const found = view.get('availabilityZone', id)?.value
  if (found === undefined || !claim.use(`availabilityZone/${id}`))
    throw new SpoutError('ReferenceNotFound', { field, what: 'availability zone', id })
  if (!found.enabled)
    throw new SpoutError('InvalidField', { field, reason: `availability zone ${found.name} is disabled` })
  return { field, id: found.nodeGroupId }
}

/** @throws SpoutError InvalidField for a first VIP that is from none of the zone's networks */
export function checkZoneOfVip(
  { view }: AdmissionContext,
  { zoneId }: Pick<LoadBalancer, 'zoneId'>,
  vip: Vip | undefined,
): void {
  const zone = zoneId === undefined ? undefined : view.get('availabilityZone', zoneId)?.value
  const from = vip?.networkId ?? vip?.poolId ?? ''
  if (zone?.vipNetworkIds === undefined || zone.vipNetworkIds.includes(from)) return
  throw new SpoutError('InvalidField', {
    field: 'vips[0]',
    reason: `availability zone ${zone.name} has no addresses of network ${from}`,
  })
}

/** The limit of connections per listener that the class of the load balancer sets; null: none. */
export const classConnectionLimit = (
  { view }: Pick<AdmissionContext, 'view'>,
  { classId }: Pick<LoadBalancer, 'classId'>,
): number | null =>
  classId === undefined ? null : (view.get('loadBalancerClass', classId)?.value.connectionLimit ?? null)
