import { type Outcome, retryAfter } from '@spout/runtime'
import { SHORTLY_MS } from './retries.ts'

/** Who is changing a load balancer now, by its id. */
export type Busy = Map<string, string>

/**
 * Runs a change of load balancers unless somebody else is changing one of them.
 * @param who the unit or the object for which they are changed
 * @returns a retry soon when another change is under way; else the outcome of the change
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
