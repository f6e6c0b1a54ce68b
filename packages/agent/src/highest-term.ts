import type { LeaderTerm } from '@spout/model/leader-term'
import { readFileOrNull, writeFileAtomically } from '@spout/sys'

/** A server leads no longer, though it does not know yet. */
export class OutdatedLeader extends Error {
  override readonly name = 'OutdatedLeader'

  constructor(term: LeaderTerm, highest: LeaderTerm) {
    super(`this server leads by token ${term.token} of store ${term.store}, and token ${highest.token} was followed`)
  }
}

/**
 * The highest term of leading that this node has followed, in a file, so that a restart forgets nothing. Tokens of
 * another store are not compared: a restored back-up begins anew under an id of its own.
 */
export class HighestTerm {
  readonly #file: string | null
  readonly #onError: (error: unknown) => void
  #highest: LeaderTerm | null

  private constructor(file: string | null, highest: LeaderTerm | null, onError: (error: unknown) => void) {
    this.#file = file
    this.#highest = highest
    this.#onError = onError
  }

  /** @param file null for none @param onError called when it cannot be read or written: terms are compared nevertheless */
  static async open(file: string | null, onError: (error: unknown) => void): Promise<HighestTerm> {
    try {
      return new HighestTerm(file, file === null ? null : await savedTerm(file), onError)
    } catch (error) {
      onError(error)
      return new HighestTerm(file, null, onError)
    }
  }

  /**
   * Remembers the term of a server that is to be followed.
   * @param term null if its store counts none: then there is nothing to compare
   * @throws OutdatedLeader
   */
  async admit(term: LeaderTerm | null): Promise<void> {
    if (term === null) return
    const highest = this.#highest
    if (highest?.store === term.store) {
      if (term.token < highest.token) throw new OutdatedLeader(term, highest)
      if (term.token === highest.token) return
    }
    this.#highest = term
    if (this.#file === null) return
    try {
      await writeFileAtomically(this.#file, JSON.stringify(term), { mode: 0o600 })
    } catch (error) {
      this.#onError(error)
    }
  }
}

/** @returns null if there is no file yet @throws Error when it cannot be read, or was damaged */
async function savedTerm(file: string): Promise<LeaderTerm | null> {
  const bytes = await readFileOrNull(file)
  if (bytes === null) return null
  const text = bytes.toString('utf8')
  const { store, token } = JSON.parse(text) as Partial<LeaderTerm>
  if (typeof store !== 'string' || typeof token !== 'number') throw new Error(`${text.slice(0, 100)} is no term`)
  return { store, token }
}
