/** Why a sleeper woke: there may be new commits, or an interval passed without any. */
export type Waking = 'news' | 'quiet'

/**
 * Lets one watch wait for the next commit. Waking a sleeper that is awake does nothing: it looks at the log before it
 * sleeps.
 */
export class Sleeper {
  #wake: ((why: Waking) => void) | null = null
  #sleepsOn: () => boolean = () => false

  /** @param sleepsOn asked at news: whether there is nothing in it for this watch */
  sleep(sleepsOn: () => boolean): Promise<Waking> {
    return new Promise((resolve) => {
      this.#wake = resolve
      this.#sleepsOn = sleepsOn
    })
  }

  /**
   * Wakes it if there is something for it. To wake a watch takes its consumer some turns of microtasks, and a busy
   * store has hundreds of watches that want nothing of most commits.
   */
  news(): void {
    if (this.#wake !== null && !this.#sleepsOn()) this.wake('news')
  }

  wake(why: Waking): void {
    this.#wake?.(why)
    this.#wake = null
  }
}
