import type { LoadBalancerExplanation } from '../../api/explanation.ts'
import { shortFigure } from '../../parts/figures.ts'

type Counted = Pick<LoadBalancerExplanation, 'listeners'>

/**
 * New connections a second of each listener between two readings, as text. A counter that went back began anew: there is
 * no rate then.
 * @param seconds between the readings
 */
export function ratesBetween(before: Counted, after: Counted, seconds: number): ReadonlyMap<string, string> {
  const totals = new Map(before.listeners.map(({ id, stats }) => [id, stats?.totalConnections]))
  return new Map(
    after.listeners.flatMap(({ id, stats }) => {
      const was = totals.get(id)
      const now = stats?.totalConnections
      if (was === undefined || now === undefined || now < was || seconds <= 0) return []
      return [[id, `${shortFigure((now - was) / seconds)}/s`] as const]
    }),
  )
}
