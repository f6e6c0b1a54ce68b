import { SpoutError } from '@spout/model'
import type { ShownLoadBalancer } from '../control-plane/load-balancer-service.ts'
import { Unsatisfiable } from './choices.ts'
import type { AddressContext, WantedAddresses } from './wanted.ts'

/**
 * Checks that the quotas have room for the new load balancer once the old one is deleted. Refuses in the words of the
 * control plane. Somebody else may still take the room in between; then the control plane refuses the new one.
 * @param old the load balancer that is going to be deleted
 * @param classId the class of the new one; undefined for none
 * @throws Unsatisfiable
 */
export async function refuseWithoutRoom(
  { service }: AddressContext,
  { fields }: WantedAddresses,
  { document: old }: ShownLoadBalancer,
  classId: string | undefined,
): Promise<void> {
  const { limits, used, classes = [] } = await service.quota()
  const refuseFull = (resource: string, limit: number, others: number): void => {
    if (others < limit) return
    const { message } = new SpoutError('OverQuota', { resource, limit, used: others, wanted: 1 })
    throw new Unsatisfiable({ reason: 'OverQuota', field: fields.loadBalancerClass, message })
  }
  refuseFull('loadBalancers', limits.loadBalancers, used.loadBalancers - 1)
  const own = classId === undefined ? undefined : classes.find(({ id }) => id === classId)
  if (own === undefined || own.limit === null) return
  refuseFull(`load balancers of class ${own.name}`, own.limit, own.used - (old.classId === classId ? 1 : 0))
}
