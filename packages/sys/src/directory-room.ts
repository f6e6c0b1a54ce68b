import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Space and files that are left for a directory. */
export interface DirectoryRoom {
  readonly directory: string
  /** The nearest directory that exists. */
  readonly mount: string
  /** Identifies the file system. */
  readonly device: number
  readonly freeBytes: number
  readonly totalBytes: number
  /** Both 0 where the file system does not count files. */
  readonly freeFiles: number
  readonly totalFiles: number
}

/** What is left for files in these directories, or where they would be made. */
export const readRoom = (directories: readonly string[]): Promise<readonly DirectoryRoom[]> =>
  Promise.all(directories.map((directory) => roomOf(directory, directory)))

async function roomOf(directory: string, mount: string): Promise<DirectoryRoom> {
  try {
    const [{ dev }, { bavail, blocks, bsize, ffree, files }] = await Promise.all([stat(mount), statfs(mount)])
    const bytes = { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
    return { directory, mount, device: dev, ...bytes, freeFiles: ffree, totalFiles: files }
  } catch (error) {
    if (mount === dirname(mount)) throw error
    return roomOf(directory, dirname(mount))
  }
}
