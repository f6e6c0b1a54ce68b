import { type Outcome, retryAfter } from '@spout/runtime'
import { SHORTLY_MS } from './retries.ts'

/** The holder of each load balancer that is being changed, by load balancer id. */
export type Busy = Map<string, string>

/**
 * Runs a change of load balancers that no other change may overlap.
 * @param who the unit or the object for which they are changed
 * @returns to try again soon, when another change of one of them is under way
 */
export async function alone(
  busy: Busy,
  ids: readonly string[],
  who: string,
  change: () => Promise<Outcome>,
): Promise<Outcome> {
  if (ids.some((id) => (busy.get(id) ?? who) !== who)) return retryAfter(SHORTLY_MS)
  for (const id of ids) busy.set(id, who)
  try {
    return await change()
  } finally {
    for (const id of ids) busy.delete(id)
  }
}
