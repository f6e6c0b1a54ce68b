import type { ModelView } from '@spout/admission/contract'
import { type LoadBalancer, mayUseClass, type StatusNotice } from '@spout/model'

const KEPT = 'It keeps it, is served as before and can be changed; no new load balancer of the project may choose it.'

/**
 * The notice that the class or the zone of a load balancer is no longer offered to its project. The load balancer keeps
 * it. Undefined while both are offered.
 */
export function offerNotice(
  view: Pick<ModelView, 'get'>,
  { classId, zoneId, projectId }: Pick<LoadBalancer, 'classId' | 'zoneId' | 'projectId'>,
): StatusNotice | undefined {
  const ofClass = classId === undefined ? undefined : view.get('loadBalancerClass', classId)?.value
  if (ofClass?.enabled === false)
    return { reason: 'LoadBalancerClassDisabled', message: `Its class ${ofClass.name} was disabled. ${KEPT}` }
  if (ofClass !== undefined && !mayUseClass(ofClass, projectId))
    return { reason: 'LoadBalancerClassClosed', message: `Its class was closed to the project. ${KEPT}` }
  const zone = zoneId === undefined ? undefined : view.get('availabilityZone', zoneId)?.value
  if (zone?.enabled === false)
    return { reason: 'AvailabilityZoneDisabled', message: `Its availability zone ${zone.name} was disabled. ${KEPT}` }
  return undefined
}
