/** A fair mutex: runs tasks one at a time, in the order given. A task that fails does not stop the next. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task)
    this.#last = result.catch(() => {})
    return result
  }

  /** Resolves when every task given so far has ended, failed or not. */
  async idle(): Promise<void> {
    await this.#last
  }
}
