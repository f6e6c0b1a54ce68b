import { readFile, stat } from 'node:fs/promises'
import { Secret } from '@spout/runtime'
import { AccessError, type TokenSource } from './cluster-access.ts'

/** The token to send now. A service account's token file is replaced about every hour. */
export class BearerToken {
  readonly #source: TokenSource | null
  #read: { readonly token: Secret<string>; readonly version: string } | null = null

  constructor(source: TokenSource | null) {
    this.#source = source
  }

  /**
   * @returns null when there is no token
   * @throws AccessError when the file cannot be read and never could
   */
  async current(): Promise<Secret<string> | null> {
    if (this.#source === null) return null
    if (this.#source.type === 'value') return this.#source.token
    const file = this.#source.path
    try {
      const { ino, mtimeMs, size } = await stat(file)
      const version = `${ino}.${mtimeMs}.${size}`
      if (this.#read?.version !== version) {
        const token = (await readFile(file, 'utf8')).trim()
        // Caught in the middle of being written: what we have is good for some time yet.
        if (token !== '') this.#read = { token: new Secret(token), version }
      }
    } catch (error) {
      if (this.#read === null)
        throw new AccessError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`)
    }
    if (this.#read === null) throw new AccessError(`${file} is empty`)
    return this.#read.token
  }

  /** The server refused the token: the next look reads the file, whatever its time says. */
  forget(): void {
    if (this.#read !== null) this.#read = { ...this.#read, version: '' }
  }
}
