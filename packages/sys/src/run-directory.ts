import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Creates a directory with this mode. Missing parents are created with a mode that others may traverse, since daemons
 * without root rights have their directories beside it. A recursive `mkdir` would give all of them the same mode.
 */
export async function makeRunDirectory(directory: string, mode: number): Promise<void> {
  await mkdir(dirname(directory), { recursive: true, mode: 0o755 })
  await mkdir(directory, { recursive: true, mode })
}
