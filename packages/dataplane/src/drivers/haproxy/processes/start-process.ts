import { ExecError } from '@spout/sys'

/**
 * HAProxy asks the process that it replaces for its sockets, and gives up after one second. A process that is busy, or
 * held back by its share of the processors, may answer later.
 */
const MOST_ATTEMPTS = 3
const NO_SOCKETS = /sockets from the old process/

/** A line that HAProxy prints when it cannot start, such as `[ALERT]    (123) : cannot bind socket`. */
const ALERT = /^\[ALERT\]\s*(?:\(\d+\) : )?(.*)$/gm

/**
 * Starts an HAProxy daemon. Tries again if the process that it replaces did not hand over its sockets in time; that
 * process then continues as before.
 * @param run runs the command to its end; throws ExecError
 * @throws Error with HAProxy's own words
 */
export async function startProcess(run: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await run()
      return
    } catch (error) {
      const said = error instanceof ExecError ? (error.result?.stderr ?? '') : ''
      if (attempt < MOST_ATTEMPTS && NO_SOCKETS.test(said)) continue
      const words = [...said.matchAll(ALERT)].map(([, text]) => text)
      if (words.length === 0) throw error
      throw new Error(`HAProxy does not start: ${words.join(' ')}`, { cause: error })
    }
  }
}
