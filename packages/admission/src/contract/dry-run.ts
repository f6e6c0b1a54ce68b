import type { AddressChange, LoadBalancer } from '@spout/model'
import type { LoadBalancerAdmission } from './load-balancer-admission.ts'

/** What a write of a load balancer would have done. */
export interface DryRun {
  /** Null: it would be new. */
  readonly before: LoadBalancer | null
  /** `before` itself where nothing would change. Null: it would be deleted. */
  readonly after: LoadBalancer | null
  readonly addresses: readonly AddressChange[]
}

/** A write that is checked as any other, and stores nothing. */
export interface DryRuns {
  /**
   * Runs a write with an admission that checks everything against the newest state, with what writes under way claim. It
   * stores nothing and takes nothing, not even for a moment in which others could be refused.
   * @param id of the load balancer; null for one that would be new
   * @throws what the write throws
   */
  dryRun(id: string | null, write: (admission: LoadBalancerAdmission) => Promise<unknown>): Promise<DryRun>
}
