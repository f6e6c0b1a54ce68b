import type { LoadBalancerHealth } from '@spout/model'
import type { LoadBalancerExplanation } from '../api/explanation.ts'

type Told = Pick<LoadBalancerExplanation, 'loadBalancer' | 'state' | 'serving' | 'notice'>

/** The health of one load balancer, by the rule of the table's rows. */
export function healthOf({ loadBalancer, state, serving, notice }: Told): LoadBalancerHealth {
  if (!loadBalancer.enabled) return 'off'
  if (state.provisioning === 'error') return 'failed'
  if (state.provisioning === 'pending' || serving.reason === 'NoListeners' || serving.reason === 'Disabled')
    return 'pending'
  if (serving.state === 'no') return 'failed'
  return serving.state === 'partly' || notice !== undefined ? 'degraded' : 'ok'
}

/** Why it is not well, for its user; null when it is. */
export function reasonOf({ state, serving, notice }: Told): string | null {
  if (state.provisioning !== 'active') return state.message
  if (serving.state !== 'yes') return serving.message
  return notice?.message ?? null
}
