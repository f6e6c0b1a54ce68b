import type { CheckSpec } from '@spout/model'
import type { CheckResult } from '../contracts/check.ts'

/** The health of one endpoint. Plain data: it is kept on disk over a restart of the agent. */
export interface HealthState {
  readonly health: 'up' | 'down' | 'unknown'
  /** Consecutive results that contradict `health`. */
  readonly against: number
  /** Why it is down; null otherwise. */
  readonly reason: string | null
}

export const UNKNOWN: HealthState = { health: 'unknown', against: 0, reason: null }

/**
 * The state after one more result. `rise` consecutive successes bring an endpoint up, `fall` consecutive failures take
 * it down.
 *
 * The first result of an unknown endpoint decides alone. Unknown endpoints get traffic, so waiting for `fall` failures
 * would send clients to a dead member for that many intervals, and waiting for `rise` successes would change nothing.
 */
export function nextHealth(
  state: HealthState,
  result: Pick<CheckResult, 'ok' | 'reason'>,
  spec: Pick<CheckSpec, 'rise' | 'fall'>,
): HealthState {
  const probed = result.ok ? 'up' : 'down'
  const reason = result.ok ? null : (result.reason ?? 'check failed')
  if (state.health === probed) {
    return state.against === 0 && state.reason === reason ? state : { health: probed, against: 0, reason }
  }
  const against = state.against + 1
  const needed = state.health === 'unknown' ? 1 : result.ok ? spec.rise : spec.fall
  return against >= needed ? { health: probed, against: 0, reason } : { ...state, against }
}
