import type { CheckSpec } from '@spout/model/node-state'

/** An endpoint inside a domain that is probed. */
export interface CheckTarget {
  readonly domain: number
  readonly address: string
  readonly port: number
  readonly spec: CheckSpec
}

export interface CheckResult {
  readonly ok: boolean
  /** Why the check failed, for people (`connection refused`, `status 500, expected 200`); null when ok. */
  readonly reason: string | null
  readonly durationMs: number
}

/**
 * One kind of probe. A failing target is a result and never an exception. When `signal` aborts, `run` releases everything
 * at once, and its result is ignored.
 */
export interface HealthCheck {
  readonly type: CheckSpec['type']
  run(target: CheckTarget, signal: AbortSignal): Promise<CheckResult>
}
