import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** A larger heap is in use, and collecting it would take too long. */
const MOST_BYTES = 64 * 1024 * 1024

type Collect = (options: { readonly type: 'major'; readonly execution: 'sync'; readonly flavor: 'last-resort' }) => void

/**
 * Frees the memory that only the start of this process needed. V8 keeps it until something asks for memory, which in an
 * idle server is never. Takes some tens of ms, once. Does nothing on a heap that is in use.
 */
export function collectStartGarbage(): void {
  if (process.memoryUsage().heapUsed > MOST_BYTES) return
  // V8 exposes `gc` only in contexts created while this flag is set.
  setFlagsFromString('--expose-gc')
  const collect: Collect = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
