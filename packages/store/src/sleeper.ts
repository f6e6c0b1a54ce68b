/** Why a sleeper was woken: there may be something new, or it was quiet for an interval. */
export type Waking = 'news' | 'quiet'

/** Where one watch waits for the next commit. Waking one that is awake does nothing: it looks before it sleeps. */
export class Sleeper {
  #wake: ((why: Waking) => void) | null = null

  sleep(): Promise<Waking> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  wake(why: Waking): void {
    this.#wake?.(why)
    this.#wake = null
  }
}
