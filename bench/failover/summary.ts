import { distribution } from '../percentile.ts'
import type { Distribution } from '../row.ts'
import type { Fault } from './faults.ts'
import type { Outage } from './measure-faults.ts'

/** Outages of one pair by fault. */
export class OutageLog {
  readonly #outages: Outage[] = []

  add(outage: Outage): void {
    this.#outages.push(outage)
  }

  get all(): readonly Outage[] {
    return this.#outages
  }

  of(fault: Fault): Distribution {
    return distribution(this.#outages.filter((one) => one.fault === fault).map(({ gapMs }) => gapMs))
  }

  /** The worst 99th percentile of all faults. */
  worstP99(): number {
    return Math.max(...new Set(this.#outages.map(({ fault }) => this.of(fault).p99)))
  }

  /** Flows that ended or hung, of how many. */
  brokenFlows(): { readonly broken: number; readonly of: number } {
    const flows = this.#outages.flatMap((one) => (one.flows === null ? [] : [one.flows]))
    const of = flows.reduce((sum, one) => sum + one.of, 0)
    return { of, broken: of - flows.reduce((sum, one) => sum + one.survived, 0) }
  }

  failedRequests(): number {
    return this.#outages.reduce((sum, { workers }) => sum + (workers?.failed ?? 0), 0)
  }

  longestRequestGapMs(): number {
    return Math.max(0, ...this.#outages.map(({ workers }) => workers?.gapMs ?? 0))
  }

  longestStallMs(): number {
    return Math.max(0, ...this.#outages.map(({ stallInGapMs }) => stallInGapMs))
  }
}
