import type { AnnouncerPlanner } from '../announcer-planner.ts'

export interface L2Terms {
  readonly via: 'l2'
}

/** The node that the planner chose announces the address. Nodes need no part in the group for that. */
export const l2Planner: AnnouncerPlanner<L2Terms> = {
  terms: () => ({ via: 'l2' }),
  announce: () => ({ via: 'l2' }),
  announceInside: () => ({ via: 'l2' }),
}
