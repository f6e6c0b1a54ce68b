import type { LoadBalancer, Placement } from '@spout/model'
import type { Revision } from '@spout/store'

/** The placement of a new load balancer. */
export interface NewPlacement {
  readonly placement: Placement
  /** Must be called once the commit is over. @param revision null: it stored nothing */
  readonly settle: (revision: Revision | null) => void
}

/** Places new load balancers before they are stored, so that one commit stores both. The planner implements it. */
export interface Placing {
  /**
   * Decides synchronously. The next plan counts the placement at once.
   * @returns null where it is placed after it was stored
   */
  placeNew(loadBalancer: LoadBalancer): NewPlacement | null
}
