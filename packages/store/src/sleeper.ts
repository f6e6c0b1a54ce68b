/** Why a sleeper woke: there may be new commits, or an interval passed without any. */
export type Waking = 'news' | 'quiet'

/**
 * Lets one watch wait for the next commit. Waking a sleeper that is awake does nothing: it looks at the log before it
 * sleeps.
 */
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
