import type { Admission } from '@spout/admission/contract'
import type { LoadBalancer, StatusReader } from '@spout/model'
import { isSettled } from './snapshot.ts'

/**
 * Admission whose writes of load balancers resolve once the nodes confirmed them, or after `waitMs` all the same.
 * Clients look at once whether an object is ACTIVE and, where it is not yet, pause for a second or more: some
 * milliseconds here spare them all of that.
 */
export function settlingAdmission(admission: Admission, status: StatusReader, waitMs: number): Admission {
  const settled = async (lb: LoadBalancer): Promise<LoadBalancer> => {
    if (waitMs > 0 && !isSettled(lb, status.loadBalancer(lb.id))) await untilSettled(status, lb, waitMs)
    return lb
  }
  return {
    ...admission,
    createLoadBalancer: async (draft) => settled(await admission.createLoadBalancer(draft)),
    changeLoadBalancer: async (id, change) => settled(await admission.changeLoadBalancer(id, change)),
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
