import { type AvailabilityZone, mayUseClass } from '@spout/model'
import type { LoadBalancerSpec } from '../resources/load-balancer.ts'
import { OctaviaFault, validationFailure } from '../wire/fault.ts'
import type { Call } from './route.ts'

/** The class and the zone that a creation names. @throws OctaviaFault 400 for unknown and disabled ones */
export function namedOffers(
  { context: { view } }: Call,
  projectId: string,
  { flavorId, zoneName }: Pick<LoadBalancerSpec, 'flavorId' | 'zoneName'>,
): { readonly classId?: string; readonly zone?: AvailabilityZone } {
  const flavor = flavorId === null ? null : view.get('loadBalancerClass', flavorId)?.value
  if (flavor === undefined || (flavor !== null && !mayUseClass(flavor, projectId)))
    throw validationFailure('Invalid flavor_id.')
  if (flavor?.enabled === false) throw disabled('flavor', flavor.id)
  const zone = zoneName === null ? null : view.list('availabilityZone').find(({ name }) => name === zoneName)
  if (zone === undefined) throw validationFailure('Invalid availability zone.')
  if (zone?.enabled === false) throw disabled('availability_zone', zone.name)
  return { ...(flavor !== null && { classId: flavor.id }), ...(zone !== null && { zone }) }
}

const disabled = (option: string, value: string): OctaviaFault =>
  new OctaviaFault(400, `The selected ${option} is not allowed in this deployment: ${value}`)
