import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a directory with this mode. Missing ones above it are open to pass through: daemons that are not root have
 * theirs beside it, and the mode of a recursive `mkdir` is that of every directory it makes.
 */
export async function makeRunDirectory(directory: string, mode: number): Promise<void> {
  await mkdir(dirname(directory), { recursive: true, mode: 0o755 })
  await mkdir(directory, { recursive: true, mode })
}
