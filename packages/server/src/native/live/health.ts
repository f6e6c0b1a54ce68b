import type { LoadBalancer, LoadBalancerHealth, LoadBalancerSummary } from '@spout/model'

export interface Health {
  readonly health: LoadBalancerHealth
  /** A full sentence for the object's user; null for `ok`. */
  readonly reason: string | null
}

/** The health of a load balancer, with the first reason when it is not `ok`. */
export function healthOf(
  { enabled }: Pick<LoadBalancer, 'enabled'>,
  { provisioning, message, serving, notice }: LoadBalancerSummary,
): Health {
  if (!enabled) return { health: 'off', reason: 'The load balancer is disabled.' }
  if (provisioning === 'error') return { health: 'failed', reason: message }
  if (provisioning === 'pending') return { health: 'pending', reason: message }
  if (serving.reason === 'NoListeners') return { health: 'pending', reason: serving.message }
  if (serving.state !== 'yes')
    return { health: serving.state === 'no' ? 'failed' : 'degraded', reason: serving.message }
  return notice === undefined ? { health: 'ok', reason: null } : { health: 'degraded', reason: notice.message }
}
