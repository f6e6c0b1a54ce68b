import type { WayEnd, WayShare, WayStep } from '@spout/plan/requests'
import type { ExplainedListener, ExplainedPool, LoadBalancerExplanation } from '../api/explanation.ts'

/** A listener with what else a request meets there. */
export interface MetListener extends ExplainedListener {
  /** The listener of its port that gets what none of its routes takes. */
  readonly others: { readonly id: string; readonly name: string } | null
  /** Whether clients need a certificate; null: they are not asked for one. */
  readonly clientCertificates: 'required' | 'optional' | 'any' | null
}

export interface Explanation extends LoadBalancerExplanation {
  readonly listeners: readonly MetListener[]
}

export type Step = WayStep<MetListener>
export type End = WayEnd<ExplainedPool>
export type PoolShare = Extract<WayShare<ExplainedPool>, { readonly is: 'pool' }>
