import { readFileSync, statSync } from 'node:fs'

/** SQLite locks bytes from here on: `PENDING_BYTE` of its file format. */
const SQLITE_LOCK_BYTES = 0x40000000

/**
 * The process that locked the database file, from the kernel's own table: a pid file could outlive its writer.
 * @returns null when the kernel does not say (another pid namespace, no /proc)
 */
export function lockHolder(path: string): number | null {
  try {
    const { ino } = statSync(path)
    // 1: POSIX  ADVISORY  WRITE 10875 fe:00:9977863 1073741824 1073742335
    for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
      const [, kind, , access, pid, file, start] = line.split(/\s+/)
      if (kind !== 'POSIX' || access !== 'WRITE' || Number(start) < SQLITE_LOCK_BYTES) continue
      if (file?.endsWith(`:${ino}`) && Number(pid) > 0) return Number(pid)
    }
  } catch {
    // The pid only improves the message: the file is locked either way.
  }
  return null
}
