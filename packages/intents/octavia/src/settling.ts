import type { LoadBalancerAdmission, ProjectAdmission } from '@spout/admission/contract'
import type { LoadBalancer, StatusReader } from '@spout/model'
import { isSettled } from './snapshot.ts'

/** What the Octavia API asks of admission. */
export type OctaviaAdmission = Pick<
  LoadBalancerAdmission,
  'createLoadBalancer' | 'changeLoadBalancer' | 'deleteLoadBalancer'
> &
  Pick<ProjectAdmission, 'quotaOf' | 'setQuota'>

/**
 * Admission whose writes of load balancers resolve once the nodes confirmed them, or after `waitMs` all the same.
 * Clients look at once whether an object is ACTIVE and, where it is not yet, pause for a second or more: some
 * milliseconds here spare them all of that.
 */
export function settlingAdmission(admission: OctaviaAdmission, status: StatusReader, waitMs: number): OctaviaAdmission {
  const settled = async (lb: LoadBalancer): Promise<LoadBalancer> => {
    if (waitMs > 0 && !isSettled(lb, status.loadBalancer(lb.id))) await untilSettled(status, lb, waitMs)
    return lb
  }
  return {
    createLoadBalancer: async (draft) => settled(await admission.createLoadBalancer(draft)),
    changeLoadBalancer: async (id, change) => settled(await admission.changeLoadBalancer(id, change)),
    deleteLoadBalancer: (id, options) => admission.deleteLoadBalancer(id, options),
    quotaOf: (projectId) => admission.quotaOf(projectId),
    setQuota: (projectId, limits) => admission.setQuota(projectId, limits),
  }
}

const untilSettled = (status: StatusReader, lb: LoadBalancer, waitMs: number): Promise<void> =>
  new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      unsubscribe()
      resolve()
    }
    const timer = setTimeout(finish, waitMs)
    const unsubscribe = status.onChange((kind, id) => {
      if (kind === 'loadBalancer' && id === lb.id && isSettled(lb, status.loadBalancer(lb.id))) finish()
    })
  })
