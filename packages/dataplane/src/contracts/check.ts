import type { CheckSpec } from '@spout/model/node-state'

/** What is probed: an endpoint inside a domain. */
export interface CheckTarget {
  readonly domain: number
  readonly address: string
  readonly port: number
  readonly spec: CheckSpec
}

export interface CheckResult {
  readonly ok: boolean
  /** Why not, for people (`connection refused`, `status 500, expected 200`); null when ok. */
  readonly reason: string | null
  readonly durationMs: number
}

/**
 * One kind of probe. Never throws for a failing target: that is a result. When `signal` aborts, it lets go of everything at
 * once; what it says then means nothing.
 */
export interface HealthCheck {
  readonly type: CheckSpec['type']
  run(target: CheckTarget, signal: AbortSignal): Promise<CheckResult>
}
