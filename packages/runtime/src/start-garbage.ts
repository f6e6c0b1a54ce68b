import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** A heap that holds more has work to do, and to collect it takes longer than anybody is to wait. */
const MOST_BYTES = 64 * 1024 * 1024

type Collect = (options: { readonly type: 'major'; readonly execution: 'sync'; readonly flavor: 'last-resort' }) => void

/**
 * Gives back what only the start of this process needed: V8 keeps it for as long as nothing asks for memory, which in an
 * idle server is for ever. Takes some tens of ms, once; does nothing on a heap that is in use.
 */
export function collectStartGarbage(): void {
  if (process.memoryUsage().heapUsed > MOST_BYTES) return
  // The flag counts for contexts that are made while it is set.
  setFlagsFromString('--expose-gc')
  const collect: Collect = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
