import { scryptSync } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { Derivation } from './scrypt-thread.ts'

/**
 * The nice value of this thread alone. It gets about a tenth of what a busy event loop gets, and all of an idle core.
 */
const NICE = 10

try {
  // `/proc/thread-self` is `PID/task/TID`; Linux sets priorities by thread (setpriority(2), "C library/kernel
  // differences").
  setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), NICE)
} catch {
  // A sandbox may lack that file or forbid the call. Logins work all the same.
}

parentPort?.on('message', ({ password, salt, keyBytes, options }: Derivation) => {
  parentPort?.postMessage(scryptSync(password, salt, keyBytes, options))
})
