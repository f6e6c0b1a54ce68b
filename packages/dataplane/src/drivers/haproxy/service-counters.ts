import type { FrontendCounters } from './show.ts'

const ZERO: FrontendCounters = { current: 0, total: 0, bytesIn: 0, bytesOut: 0, requestErrors: 0 }

const combine = (a: FrontendCounters, b: FrontendCounters, sign: 1 | -1): FrontendCounters => ({
  current: Math.max(0, a.current),
  total: Math.max(0, a.total + sign * b.total),
  bytesIn: Math.max(0, a.bytesIn + sign * b.bytesIn),
  bytesOut: Math.max(0, a.bytesOut + sign * b.bytesOut),
  requestErrors: Math.max(0, a.requestErrors + sign * b.requestErrors),
})

/**
 * Computes counters of services from counters of slots. A slot keeps counting under a new owner, and a process begins
 * at zero, but a service's counters never decrease.
 */
export class ServiceCounters {
  /** Sums of earlier processes, by service. */
  readonly #carried = new Map<string, FrontendCounters>()
  /** The last sample of the running process, by slot. */
  #sample: ReadonlyMap<number, FrontendCounters> = new Map()
  /** The counters of a slot when it was assigned, by slot. */
  readonly #baselines: Map<number, FrontendCounters>

  constructor(baselines: Iterable<readonly [number, FrontendCounters]> = []) {
    this.#baselines = new Map(baselines)
  }

  get baselines(): readonly (readonly [number, FrontendCounters])[] {
    return [...this.#baselines]
  }

  take(sample: ReadonlyMap<number, FrontendCounters>): void {
    this.#sample = sample
  }

  of(service: string, slot: number): FrontendCounters {
    const counted = combine(this.#sample.get(slot) ?? ZERO, this.#baselines.get(slot) ?? ZERO, -1)
    return combine(counted, this.#carried.get(service) ?? ZERO, 1)
  }

  /** Slots were assigned: their counts so far do not belong to the new owners. */
  begin(slots: readonly number[], counted: ReadonlyMap<number, FrontendCounters>): void {
    for (const slot of slots) this.#baselines.set(slot, counted.get(slot) ?? ZERO)
  }

  forget(service: string): void {
    this.#carried.delete(service)
  }

  /** The process is gone or replaced: saves the counts of `owners` (service and slot). */
  restart(owners: Iterable<readonly [service: string, slot: number]>): void {
    for (const [service, slot] of owners) this.#carried.set(service, { ...this.of(service, slot), current: 0 })
    this.#sample = new Map()
    this.#baselines.clear()
  }
}
