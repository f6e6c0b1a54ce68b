import { rm, writeFile } from 'node:fs/promises'
import { ExecError, readFileOrNull, writeFileAtomically } from '@spout/sys'
import { VrrpRefused } from './check-settings.ts'
import { withoutMover } from './keepalived-config.ts'

/** keepalived's configuration on disk. It always holds a text that keepalived has accepted. */
export class ConfigFile {
  readonly #path: string
  #text: string | null = null
  #writes = 0

  constructor(path: string) {
    this.#path = path
  }

  get text(): string | null {
    return this.#text
  }

  get writes(): number {
    return this.#writes
  }

  async load(): Promise<void> {
    this.#text = (await readFileOrNull(this.#path))?.toString('utf8') ?? null
  }

  /**
   * Replaces the file if keepalived accepts the text.
   * @param test has keepalived check a file
   * @returns whether the text changed
   * @throws VrrpRefused with keepalived's error text; the old file stays
   */
  async offer(text: string, test: (path: string) => Promise<void>): Promise<boolean> {
    if (text === this.#text) return false
    const candidate = `${this.#path}.new`
    try {
      await writeFile(candidate, withoutMover(text), { mode: 0o600 })
      await test(candidate)
    } catch (error) {
      if (!(error instanceof ExecError)) throw error
      throw new VrrpRefused(`keepalived refuses its configuration: ${error.message}`, { cause: error })
    } finally {
      await rm(candidate, { force: true })
    }
    await writeFileAtomically(this.#path, text)
    this.#text = text
    this.#writes++
    return true
  }

  async remove(): Promise<void> {
    await rm(this.#path, { force: true })
    this.#text = null
  }
}
