import type { LoadBalancerAdmission, ProjectAdmission } from '@spout/admission/contract'
import type { LoadBalancer, StatusReader } from '@spout/model'
import { isSettled } from './snapshot.ts'

/** The part of admission that the Octavia API uses. */
export type OctaviaAdmission = Pick<
  LoadBalancerAdmission,
  'createLoadBalancer' | 'changeLoadBalancer' | 'changeLongLoadBalancer' | 'changeMembers' | 'deleteLoadBalancer'
> &
  Pick<ProjectAdmission, 'quotaOf' | 'setQuota'>

export type Settle = (lb: LoadBalancer) => Promise<LoadBalancer>

/**
 * Resolves with a load balancer once the nodes have confirmed this version, or after `waitMs` at the latest. Clients
 * check at once whether an object is ACTIVE, and if it is not, they pause for a second or more. Waiting a few
 * milliseconds here spares them that pause.
 */
export const settleWithin =
  (status: StatusReader, waitMs: number): Settle =>
  async (lb) => {
    if (waitMs > 0 && !isSettled(lb, status.loadBalancer(lb.id))) await untilSettled(status, lb, waitMs)
    return lb
  }

/** Admission whose writes of load balancers resolve once the nodes have confirmed them. */
export function settlingAdmission(admission: OctaviaAdmission, settled: Settle): OctaviaAdmission {
  return {
    createLoadBalancer: async (...draft) => settled(await admission.createLoadBalancer(...draft)),
    changeLoadBalancer: async (id, change) => settled(await admission.changeLoadBalancer(id, change)),
    changeLongLoadBalancer: async (...change) => settled(await admission.changeLongLoadBalancer(...change)),
    changeMembers: async (...change) => settled(await admission.changeMembers(...change)),
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
