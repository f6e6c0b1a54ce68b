import { FRONTEND_COLUMNS, type FrontendCounters } from './show.ts'

const FIELDS = Object.keys(FRONTEND_COLUMNS) as readonly (keyof FrontendCounters)[]
const ZERO = Object.fromEntries(FIELDS.map((field) => [field, 0])) as FrontendCounters

/** @param b has no newer fields where an earlier agent saved it */
const combine = (a: FrontendCounters, b: Partial<FrontendCounters>, sign: 1 | -1): FrontendCounters => {
  const figures = FIELDS.map((field) => {
    const change = field === 'current' ? 0 : sign * (b[field] ?? (sign < 0 ? a[field] : 0))
    return [field, Math.max(0, a[field] + change)]
  })
  return Object.fromEntries(figures)
}

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
