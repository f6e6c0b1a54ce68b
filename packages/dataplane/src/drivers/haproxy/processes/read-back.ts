import { disturbs, planChanges } from '../commands/plan-changes.ts'
import { ProxyLost } from '../commands/stats-socket.ts'
import { CONTENT_PARTS } from './content-parts.ts'
import type { CurrentProxy } from './current-proxy.ts'
import type { RunningProxy } from './running-proxy.ts'

/** Entries that are compared in one step. */
const ENTRIES_AT_ONCE = 16

/**
 * Finds the entries that the process does not hold as it should: reads its content, and compares. With thousands of
 * routes that takes long, so it is done in steps, between which changes are made: each part is read at one time, and what
 * was read follows the changes since. Callers run one step, or one change, at a time.
 */
export class ReadBack {
  readonly #current: CurrentProxy
  /** The process that is being read; null between two rounds. */
  #proxy: RunningProxy | null = null
  #part = 0
  /** Whether something was read that is other than known. */
  #differs = false
  #left: string[] = []
  #lost: string[] = []

  constructor(current: CurrentProxy) {
    this.#current = current
  }

  /** Whether a round has begun and not ended. */
  get isUnderWay(): boolean {
    return this.#proxy !== null
  }

  /** @returns the keys of the entries that differ, at the end of a round; null before */
  async step(): Promise<readonly string[] | null> {
    const proxy = this.#current.running
    if (proxy === null) return this.#end(this.#current.assignments.keys)
    if (proxy !== this.#proxy) this.#begin(proxy)
    try {
      return this.#part < CONTENT_PARTS.length ? await this.#read(proxy) : this.#compare(proxy)
    } catch (error) {
      const all = this.#end(this.#current.assignments.keys)
      if (error instanceof ProxyLost) return all
      throw error
    }
  }

  #begin(proxy: RunningProxy): void {
    this.#proxy = proxy
    this.#part = 0
    this.#differs = false
    this.#lost = []
  }

  async #read(proxy: RunningProxy): Promise<null> {
    if (await proxy.refresh(this.#part++)) this.#differs = true
    if (this.#part === CONTENT_PARTS.length) this.#left = [...this.#current.assignments.keys]
    return null
  }

  #compare(proxy: RunningProxy): readonly string[] | null {
    const { assignments } = this.#current
    // The process has the rows that are known to be settled, unless something else was read.
    const settled = this.#differs ? undefined : proxy.settled
    for (const key of this.#left.splice(0, ENTRIES_AT_ONCE)) {
      if (!assignments.has(key)) continue
      const placed = assignments.placedOf(key)
      if (!this.#differs && proxy.holds(placed)) continue
      if (disturbs(planChanges(proxy.content, placed, placed, settled))) {
        proxy.unsettle(placed)
        this.#lost.push(key)
      } else proxy.found(placed)
    }
    return this.#left.length > 0 ? null : this.#end(this.#lost)
  }

  #end(lost: readonly string[]): readonly string[] {
    this.#proxy = null
    return lost
  }
}
