import { readFileSync } from 'node:fs'
import { isErrno } from './errno.ts'

/**
 * Reads a file of the kernel's memory (`/proc`, a control group, a memory-backed directory) at once; null if it does not
 * exist. That takes microseconds. Through the thread pool each of its system calls wakes two threads up, which takes ten
 * times as much processor time.
 */
export function readKernelFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    // ESRCH: the process ended while its file was read. EINVAL: it has ended, and has no namespaces any more.
    if (isErrno(error, 'ENOENT', 'ESRCH', 'EINVAL')) return null
    throw error
  }
}
