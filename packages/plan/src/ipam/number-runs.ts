interface Run {
  first: bigint
  last: bigint
}

/**
 * A set of numbers, stored as a sorted list of runs of consecutive numbers. One binary search finds the first number
 * that is missing from a range, however large the set is.
 */
export class NumberRuns {
  readonly #runs: Run[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  has(value: bigint): boolean {
    const run = this.#runs[this.#lastStartingAtOrBefore(value)]
    return run !== undefined && value <= run.last
  }

  /** @returns whether it was added */
  add(value: bigint): boolean {
    const at = this.#lastStartingAtOrBefore(value)
    const before = this.#runs[at]
    if (before !== undefined && value <= before.last) return false
    const after = this.#runs[at + 1]
    const joinsBefore = before !== undefined && before.last + 1n === value
    const joinsAfter = after !== undefined && value + 1n === after.first
    if (joinsBefore && joinsAfter) {
      before.last = after.last
      this.#runs.splice(at + 1, 1)
    } else if (joinsBefore) before.last = value
    else if (joinsAfter) after.first = value
    else this.#runs.splice(at + 1, 0, { first: value, last: value })
    this.#size++
    return true
  }

  /** @returns whether it was removed */
  delete(value: bigint): boolean {
    const at = this.#lastStartingAtOrBefore(value)
    const run = this.#runs[at]
    if (run === undefined || value > run.last) return false
    if (run.first === run.last) this.#runs.splice(at, 1)
    else if (value === run.first) run.first = value + 1n
    else if (value === run.last) run.last = value - 1n
    else {
      this.#runs.splice(at + 1, 0, { first: value + 1n, last: run.last })
      run.last = value - 1n
    }
    this.#size--
    return true
  }

  /** The lowest number from `first` to `last` that is not in the set. */
  lowestMissing(first: bigint, last: bigint): bigint | null {
    const run = this.#runs[this.#lastStartingAtOrBefore(first)]
    const missing = run !== undefined && first <= run.last ? run.last + 1n : first
    return missing <= last ? missing : null
  }

  /** The highest number from `first` to `last` that is not in the set. */
  highestMissing(first: bigint, last: bigint): bigint | null {
    const run = this.#runs[this.#lastStartingAtOrBefore(last)]
    const missing = run !== undefined && last <= run.last ? run.first - 1n : last
    return missing >= first ? missing : null
  }

  /** How many numbers from `first` to `last` are in the set. */
  countWithin(first: bigint, last: bigint): bigint {
    let count = 0n
    for (let at = Math.max(0, this.#lastStartingAtOrBefore(first)); at < this.#runs.length; at++) {
      const run = this.#runs[at]!
      if (run.first > last) break
      const from = run.first > first ? run.first : first
      const to = run.last < last ? run.last : last
      if (from <= to) count += to - from + 1n
    }
    return count
  }

  #lastStartingAtOrBefore(value: bigint): number {
    let low = 0
    let high = this.#runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#runs[middle]!.first <= value) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}
