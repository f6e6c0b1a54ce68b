import { randomBytes } from 'node:crypto'
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isErrno } from './errno.ts'

export interface WriteOptions {
  /** Default 0600. */
  readonly mode?: number
}

/**
 * Replaces a file atomically. After a crash at any point it has the old content or the new; after this resolves, it has
 * the new.
 */
export async function writeFileAtomically(
  path: string,
  data: string | Uint8Array,
  options: WriteOptions = {},
): Promise<void> {
  const directory = dirname(path)
  const temporary = join(directory, `.${randomBytes(8).toString('hex')}.tmp`)
  try {
    await using file = await open(temporary, 'wx', options.mode ?? 0o600)
    await file.writeFile(data)
    await file.sync()
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncDirectory(directory)
}

/** The file's content; null if the file does not exist. */
export async function readFileOrNull(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    throw error
  }
}

/** Removes a file durably. It may be absent. */
export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true })
  await syncDirectory(dirname(path))
}

/** A new name is durable only when its directory is on disk. */
async function syncDirectory(path: string): Promise<void> {
  await using directory: FileHandle = await open(path, 'r')
  await directory.sync()
}
