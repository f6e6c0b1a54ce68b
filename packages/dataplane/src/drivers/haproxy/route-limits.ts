import type { NodeForward } from '@spout/model'

/** What the rows of a route's limits say, in milliseconds. */
export interface RouteLimits {
  /** Until a member that has the request begins its response. */
  readonly attempt: number
  /** Until the response begins, with connecting and all attempts. Absent: none. */
  readonly deadline?: number
}

/** HAProxy has no word for no limit; its longest is 24 days. */
const UNLIMITED_MS = 2_073_600_000

/** Null for a route that leaves the limits to its listener. What ends a request ends its attempts. @throws RangeError */
export function limitsOf({ timeouts }: Pick<NodeForward, 'timeouts'>): RouteLimits | null {
  if (timeouts === undefined) return null
  const { requestMs, backendRequestMs } = timeouts
  const attempt = Math.min(requestMs || UNLIMITED_MS, backendRequestMs || UNLIMITED_MS)
  const limits = requestMs ? { attempt, deadline: requestMs } : { attempt }
  for (const ms of Object.values(limits))
    if (!Number.isInteger(ms) || ms < 1 || ms > UNLIMITED_MS) throw new RangeError(`${ms} is no time-out`)
  return limits
}
