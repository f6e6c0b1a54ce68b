import { SpoutError } from '@spout/model'

export interface BodyLimits {
  /** Bytes of bodies that are read or worked on at a time, of everybody. */
  readonly mostBytes: number
  /** Of one project, node or address. */
  readonly mostBytesOfOne: number
}

/** Memory that bodies under way may take. A body is counted by its announced length, or by the most that it may have. */
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
   * @returns gives the bytes back
   * @throws SpoutError TooManyRequests; a body that is alone is always taken, since routes limit its size
   */
  hold(who: string, bytes: number): () => void {
    const own = this.#held.get(who) ?? 0
    if ((own > 0 && own + bytes > this.#limits.mostBytesOfOne) || this.#all + bytes > this.#limits.mostBytes)
      throw new SpoutError('TooManyRequests', { reason: 'too many bytes of bodies are under way', seconds: 1 })
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
