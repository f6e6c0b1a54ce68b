import { chmod, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execOk } from '@spout/sys'

/** The owner of the files: the daemon reads its configuration again after it dropped root rights. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** The files of one daemon, in a directory that only root and the daemon's user can enter. */
export class BirdFiles {
  readonly directory: string
  readonly config: string
  readonly controlSocket: string
  readonly pid: string
  readonly log: string
  readonly #candidate: string
  readonly #owner: Owner | null

  constructor(directory: string, owner: Owner | null) {
    this.directory = directory
    this.config = join(directory, 'bird.conf')
    this.#candidate = join(directory, 'bird.next')
    this.controlSocket = join(directory, 'ctl')
    this.pid = join(directory, 'pid')
    this.log = join(directory, 'log')
    this.#owner = owner
  }

  /** The configuration that the daemon got last; null before the first. */
  async current(): Promise<string | null> {
    return readFile(this.config, 'utf8').catch(() => null)
  }

  /** Writes a configuration to be checked. @returns its path */
  async propose(text: string): Promise<string> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 })
    await chmod(this.directory, 0o700)
    // The file contains the secrets of the sessions.
    await writeFile(this.#candidate, text, { mode: 0o600 })
    if (this.#owner !== null) {
      await chown(this.directory, this.#owner.uid, this.#owner.gid)
      await chown(this.#candidate, this.#owner.uid, this.#owner.gid)
    }
    return this.#candidate
  }

  /** The proposed configuration becomes the one that the daemon reads next. */
  async accept(): Promise<void> {
    await rename(this.#candidate, this.config)
  }

  async discard(): Promise<void> {
    await rm(this.#candidate, { force: true })
  }

  async forgetPid(): Promise<void> {
    await rm(this.pid, { force: true })
  }

  /** The process id that the daemon or its predecessor wrote; null if there is none yet. */
  async readPid(): Promise<number | null> {
    const text = await readFile(this.pid, 'utf8').catch(() => '')
    return /^[1-9][0-9]*\s*$/.test(text) ? Number(text) : null
  }

  async remove(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true })
  }
}

/** @throws ExecError if the user does not exist */
export async function ownerNamed(user: string | null): Promise<Owner | null> {
  if (user === null) return null
  const [uid, gid] = await Promise.all([execOk(['id', '-u', user]), execOk(['id', '-g', user])])
  return { uid: Number(uid), gid: Number(gid) }
}
