import type { QuotaResource } from '@spout/model'
import { addUsage, mapUsage, NO_USAGE, subtractUsage, type Usage } from '@spout/plan'

/** The quota that an object will use once it is written. `key` is `kind/id`. */
export interface WantedUsage {
  readonly key: string
  readonly usage: Usage
}

interface Held {
  readonly projectId: string
  readonly usage: Usage
  /** The claim's addition to the sum. */
  more: Usage
}

/**
 * Sums up, for each project, the quota that writes under way will use beyond what is already counted for their objects.
 * The sums are kept, because each of very many writes under way asks for them. `recount` must be called whenever the
 * counted value of an object changes: what is counted leaves the sum.
 */
export class ClaimedUsage {
  readonly #countedFor: (key: string) => Usage
  readonly #sums = new Map<string, Usage>()
  readonly #held = new Map<string, Set<Held>>()

  constructor(countedFor: (key: string) => Usage) {
    this.#countedFor = countedFor
  }

  of(projectId: string, resource: QuotaResource): number {
    return this.#sums.get(projectId)?.[resource] ?? 0
  }

  /** @returns ends the hold */
  hold(projectId: string, { key, usage }: WantedUsage): () => void {
    const held: Held = { projectId, usage, more: NO_USAGE }
    const same = this.#held.get(key)
    if (same === undefined) this.#held.set(key, new Set([held]))
    else same.add(held)
    this.#update(held, moreThan(usage, this.#countedFor(key)))
    return () => {
      this.#update(held, NO_USAGE)
      const left = this.#held.get(key)
      left?.delete(held)
      if (left?.size === 0) this.#held.delete(key)
    }
  }

  /** The counted value of an object has changed. */
  recount(key: string): void {
    for (const held of this.#held.get(key) ?? []) this.#update(held, moreThan(held.usage, this.#countedFor(key)))
  }

  #update(held: Held, more: Usage): void {
    const { projectId } = held
    const sum = addUsage(subtractUsage(this.#sums.get(projectId) ?? NO_USAGE, held.more), more)
    held.more = more
    if (isNone(sum)) this.#sums.delete(projectId)
    else this.#sums.set(projectId, sum)
  }
}

const moreThan = (usage: Usage, counted: Usage): Usage => mapUsage(usage, counted, (a, b) => Math.max(0, a - b))
const isNone = (usage: Usage): boolean => Object.values(usage).every((value) => value === 0)
