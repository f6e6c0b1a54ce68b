import type { ExplainedListener, ExplainedPool, ExplainedRoute } from '../../api/explanation.ts'
import { MOST_WEIGHTED } from './weighted.ts'

interface WeighedRoute {
  readonly listenerId: string
  readonly route: ExplainedRoute
}

/**
 * The routes whose weights are set by sliders. One that also answers a share itself has none: that share has a weight of
 * its own, which the document shows.
 */
export const weighedRoutes = (
  listeners: readonly Pick<ExplainedListener, 'id' | 'routes'>[],
): readonly WeighedRoute[] =>
  listeners
    .flatMap(({ id: listenerId, routes }) => routes.map((route) => ({ listenerId, route })))
    .filter(({ route: { action } }) => action.type === 'forward' && action.pools.length > 1 && !action.answered)
    .slice(0, MOST_WEIGHTED)

/** Whether the weights of a pool's members are set by sliders. */
export const hasSliders = ({ members }: Pick<ExplainedPool, 'members'>): boolean =>
  members.length > 1 && members.length <= MOST_WEIGHTED
