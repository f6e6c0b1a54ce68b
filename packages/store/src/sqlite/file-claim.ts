import { closeSync, openSync, statSync } from 'node:fs'

/** The files that are open in this process, by device and inode. The kernel's lock keeps out other processes only. */
const claimed = new Set<string>()

/**
 * Claims a database file for one store of this process. Creates it if it is absent: it holds password and token hashes, so
 * only its owner may read it.
 * @returns how to release it; null when another store of this process has it
 */
export function claimFile(path: string): (() => void) | null {
  createPrivate(path)
  const found = statSync(path, { throwIfNoEntry: false })
  // SQLite is about to report why it cannot be created.
  if (found === undefined) return () => {}
  const name = `${found.dev}:${found.ino}`
  if (claimed.has(name)) return null
  claimed.add(name)
  return () => claimed.delete(name)
}

/** An existing file is not even opened: POSIX drops all of a process's locks on a file when the process closes any descriptor of it. */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // Either the file exists, or SQLite is about to report why it cannot be created.
  }
}
