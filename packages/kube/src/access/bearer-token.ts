import { readFile, stat } from 'node:fs/promises'
import { Secret } from '@spout/runtime'
import { AccessError, type TokenSource } from './cluster-access.ts'

/** Gives the current token. The token file of a service account is replaced about every hour, so it is read again. */
export class BearerToken {
  readonly #source: TokenSource | null
  #read: { readonly token: Secret<string>; readonly version: string } | null = null

  constructor(source: TokenSource | null) {
    this.#source = source
  }

  /**
   * @returns null when there is no token
   * @throws AccessError when no token could be read from the file so far
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
        // Empty while it is being written. The previous token is still valid for some time.
        if (token !== '') this.#read = { token: new Secret(token), version }
      }
    } catch (error) {
      if (this.#read === null)
        throw new AccessError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`)
    }
    if (this.#read === null) throw new AccessError(`${file} is empty`)
    return this.#read.token
  }

  /** Called when the server has refused the token. The file is read again, even if it looks unchanged. */
  forget(): void {
    if (this.#read !== null) this.#read = { ...this.#read, version: '' }
  }
}
