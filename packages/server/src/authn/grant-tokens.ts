import type { ModelView } from '@spout/admission/contract'
import type { Token } from '@spout/model'
import { credentialOf } from './grant.ts'

/**
 * Which tokens have the same grant: a user's password (also through exchanged tokens), or one application credential.
 * It indexes the view's tokens, oldest first, so that limiting their number does not need a walk over all of them at
 * each login.
 */
export class GrantTokens {
  readonly #view: ModelView
  readonly #byGrant = new Map<string, Set<string>>()
  readonly #grants = new Map<string, string>()

  /** It never unsubscribes: both live as long as the process. */
  constructor(view: ModelView) {
    this.#view = view
    for (const token of view.list('token')) this.#note(token)
    view.onChange((changed) => {
      for (const { kind, id } of changed) if (kind === 'token') this.#look(id)
    })
  }

  /** Ids of the tokens of the same grant except for the newest `most`. */
  beyond(token: Token, most: number): readonly string[] {
    const ids = this.#byGrant.get(grantOf(token))
    return ids === undefined || ids.size <= most ? [] : [...ids].slice(0, ids.size - most)
  }

  #look(id: string): void {
    const token = this.#view.get('token', id)?.value
    if (token !== undefined) this.#note(token)
    else this.#forget(id)
  }

  #forget(id: string): void {
    const grant = this.#grants.get(id)
    if (grant === undefined) return
    this.#grants.delete(id)
    const ids = this.#byGrant.get(grant)
    ids?.delete(id)
    if (ids?.size === 0) this.#byGrant.delete(grant)
  }

  #note(token: Token): void {
    const grant = grantOf(token)
    const ids = this.#byGrant.get(grant) ?? new Set<string>()
    this.#byGrant.set(grant, ids)
    ids.add(token.id)
    this.#grants.set(token.id, grant)
  }
}

const grantOf = (token: Token): string => `${token.userId} ${credentialOf(token) ?? ''}`
