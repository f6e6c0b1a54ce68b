/** A wait that can be cut short, also before it begins. */
export class Pause {
  #woken = false
  #end = () => {}

  /** Waits, but no longer than until `wake` is called; one call before counts. */
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

/** Waits, but no longer than until `signal` is aborted. */
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
