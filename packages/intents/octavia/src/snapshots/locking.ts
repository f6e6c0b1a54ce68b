import type { ModelView } from '@spout/admission/contract'
import type { LoadBalancer, StatusReader } from '@spout/model'
import { OctaviaFault } from '../wire/fault.ts'
import type { OctaviaAdmission } from './settling.ts'
import { provisioningStatus } from './snapshot.ts'

interface Known {
  readonly view: Pick<ModelView, 'get'>
  readonly status: Pick<StatusReader, 'loadBalancer'>
}

/**
 * Wraps admission: as Octavia does, it refuses to change a load balancer whose last change the nodes have not
 * confirmed. Of two concurrent changes, the second finds the first one unconfirmed, so it is refused.
 * @throws OctaviaFault 409
 */
export function lockingAdmission(admission: OctaviaAdmission, { view, status }: Known): OctaviaAdmission {
  const pending = (lb: LoadBalancer): string | null => {
    const state = provisioningStatus(lb, status.loadBalancer(lb.id))
    return state.startsWith('PENDING_') ? state : null
  }
  const whenUnlocked =
    <Change>(change: (lb: LoadBalancer) => Change) =>
    (lb: LoadBalancer): Change => {
      if (pending(lb) === null) return change(lb)
      throw new OctaviaFault(409, `Load Balancer ${lb.id} is immutable and cannot be updated.`)
    }
  return {
    createLoadBalancer: (...draft) => admission.createLoadBalancer(...draft),
    changeLoadBalancer: (id, change) => admission.changeLoadBalancer(id, whenUnlocked(change)),
    changeLongLoadBalancer: (id, change, turn) => admission.changeLongLoadBalancer(id, whenUnlocked(change), turn),
    changeMembers: (id, change, turn) => admission.changeMembers(id, whenUnlocked(change), turn),
    deleteLoadBalancer: async (id, options) => {
      const lb = view.get('loadBalancer', id)?.value
      const state = lb === undefined ? null : pending(lb)
      if (state !== null) throw new OctaviaFault(409, `Invalid state ${state} of loadbalancer resource ${id}`)
      return admission.deleteLoadBalancer(id, options)
    },
    quotaOf: (projectId) => admission.quotaOf(projectId),
    setQuota: (projectId, limits) => admission.setQuota(projectId, limits),
  }
}
