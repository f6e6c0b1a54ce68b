import { SpoutError } from '@spout/model'

export interface BodyLimits {
  /** Limit of bodies being read or processed, in total. */
  readonly mostBytes: number
  /** Limit for one project, node or address. */
  readonly mostBytesOfOne: number
}

/**
 * Limits the memory of bodies under way. A body counts as many bytes as its headers announce; without a length, as many
 * as its route allows.
 */
export class BodyBudget {
  readonly #limits: BodyLimits
  readonly #held = new Map<string, number>()
  #all = 0

  constructor(limits: BodyLimits) {
    this.#limits = limits
  }

  get bytes(): number {
    return this.#all
  }

  /**
   * @returns a function that releases the bytes
   * @throws SpoutError TooManyRequests. The limit for one caller never refuses its only body, whose size the route
   * limits
   */
  hold(who: string, bytes: number): () => void {
    const own = this.#held.get(who) ?? 0
    if ((own > 0 && own + bytes > this.#limits.mostBytesOfOne) || this.#all + bytes > this.#limits.mostBytes)
      throw new SpoutError('TooManyRequests', { reason: 'too many request bodies are being read', seconds: 1 })
    this.#held.set(who, own + bytes)
    this.#all += bytes
    let released = false
    return () => {
      if (released) return
      released = true
      this.#all -= bytes
      const left = (this.#held.get(who) ?? bytes) - bytes
      if (left > 0) this.#held.set(who, left)
      else this.#held.delete(who)
    }
  }
}
