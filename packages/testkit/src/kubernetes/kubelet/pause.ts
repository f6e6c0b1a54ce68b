/** A wait that can be cut short, even before it begins. */
export class Pause {
  #woken = false
  #end = () => {}

  /** Waits until the time is over or `wake` is called; an earlier call counts too. */
  async wait(ms: number): Promise<void> {
    if (!this.#woken)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#end = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    this.#woken = false
  }

  wake(): void {
    this.#woken = true
    this.#end()
  }
}

/** Waits until the time is over or `signal` is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms)
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}
