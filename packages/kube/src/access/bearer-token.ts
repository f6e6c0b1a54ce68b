import { readFile, stat } from 'node:fs/promises'
import { Secret } from '@spout/runtime'
import { AccessError, type TokenSource } from './cluster-access.ts'

/** The current token. The file of a service account's token is replaced about every hour. */
export class BearerToken {
  readonly #source: TokenSource | null
  #read: { readonly token: Secret<string>; readonly version: string } | null = null

  constructor(source: TokenSource | null) {
    this.#source = source
  }

  /**
   * @returns null when there is no token
   * @throws AccessError when the file has never been readable
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
        // Read while it was being written: the token that we have stays valid for some time.
        if (token !== '') this.#read = { token: new Secret(token), version }
      }
    } catch (error) {
      if (this.#read === null)
        throw new AccessError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`)
    }
    if (this.#read === null) throw new AccessError(`${file} is empty`)
    return this.#read.token
  }

  /** The server refused the token: read the file again, whatever its modification time. */
  forget(): void {
    if (this.#read !== null) this.#read = { ...this.#read, version: '' }
  }
}
