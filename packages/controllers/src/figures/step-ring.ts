/** What a step has where nothing was counted: `0` for rates, `unknown` for what only requests have, `last` for levels. */
export type Idle = 0 | 'unknown' | 'last'

/**
 * The values of some series in the last steps of time, in a fixed number of bytes. Single precision: 7 digits.
 *
 * Steps are numbered; they are written in order, and may be left out. A step that was left out after the first one is
 * idle.
 */
export class StepRing {
  readonly #steps: number
  readonly #idle: readonly Idle[]
  readonly #values: Float32Array
  /** The last written step; null before the first. */
  #last: number | null = null
  #first = 0

  /** @param idle for each series */
  constructor(steps: number, idle: readonly Idle[]) {
    this.#steps = steps
    this.#idle = idle
    this.#values = new Float32Array(steps * idle.length)
  }

  static bytes(steps: number, series: number): number {
    return steps * series * Float32Array.BYTES_PER_ELEMENT
  }

  /** @param values for each series; null: unknown. @param step later than those before */
  put(step: number, values: readonly (number | null)[]): void {
    if (this.#last === null) this.#first = step
    else
      for (let idle = Math.max(this.#last + 1, step - this.#steps + 1); idle < step; idle++)
        for (let series = 0; series < this.#idle.length; series++) this.#set(series, idle, this.#idleValue(series))
    for (const [series, value] of values.entries()) this.#set(series, step, value ?? Number.NaN)
    this.#last = step
  }

  /** The values of a series in the steps that end before `until`, oldest first; null: unknown. */
  read(series: number, until: number): (number | null)[] {
    return Array.from({ length: this.#steps }, (_, at) => this.#get(series, until - this.#steps + at))
  }

  #get(series: number, step: number): number | null {
    if (this.#last === null || step < this.#first) return null
    const value = step > this.#last ? this.#idleValue(series) : (this.#values[this.#place(series, step)] ?? Number.NaN)
    return Number.isNaN(value) ? null : value
  }

  #idleValue(series: number): number {
    const idle = this.#idle[series]
    if (idle === 0) return 0
    if (idle === 'unknown' || this.#last === null) return Number.NaN
    return this.#values[this.#place(series, this.#last)] ?? Number.NaN
  }

  #set(series: number, step: number, value: number): void {
    this.#values[this.#place(series, step)] = value
  }

  #place(series: number, step: number): number {
    return series * this.#steps + (step % this.#steps)
  }
}
