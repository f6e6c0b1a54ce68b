/** Runs tasks one after another, in the order given; one that fails does not stop the next. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task)
    this.#last = result.catch(() => {})
    return result
  }

  /** Resolves when everything that was given until now is done, failed or not. */
  async idle(): Promise<void> {
    await this.#last
  }
}
