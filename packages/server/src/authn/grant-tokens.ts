import type { ModelView } from '@spout/admission/contract'
import type { Token } from '@spout/model'
import { credentialOf } from './grant.ts'

/** Limits of the number of tokens: of one grant, and of all grants of one user together. */
export interface TokenBounds {
  readonly perGrant: number
  readonly perUser: number
}

/**
 * Limit of tokens deleted at one login. There are more to delete only after the limits were lowered; later logins
 * delete them.
 */
const MOST_AT_ONCE = 64

/**
 * Indexes the view's tokens by grant, so that limiting their number does not need a walk over all of them at each
 * login. A grant is a user's password (also through exchanged tokens), or one application credential.
 */
export class GrantTokens {
  readonly #view: ModelView
  /** By user and grant: ids of tokens, oldest first. */
  readonly #byUser = new Map<string, Map<string, Set<string>>>()
  readonly #known = new Map<string, Place>()

  /** It never unsubscribes: the index and the view live as long as the process. */
  constructor(view: ModelView) {
    this.#view = view
    for (const token of view.list('token')) this.#note(token)
    view.onChange((changed) => {
      for (const { kind, id } of changed) if (kind === 'token') this.#look(id)
    })
  }

  /**
   * Ids of the tokens to delete now that this one was issued: the oldest of its own grant, then the oldest of the grant
   * that has most tokens of this user. So a credential with many tokens ends neither the user's own sessions nor those
   * of a credential with few.
   */
  beyond(token: Token, { perGrant, perUser }: TokenBounds): readonly string[] {
    const grants = [...(this.#byUser.get(token.userId) ?? [])].map(([grant, ids]) => ({
      isOwn: grant === grantOf(token),
      others: [...ids].filter((id) => id !== token.id),
    }))
    const gone = grants.flatMap(({ isOwn, others }) =>
      isOwn ? others.splice(0, Math.max(0, others.length + 1 - perGrant)) : [],
    )
    const left = 1 + grants.reduce((sum, { others }) => sum + others.length, 0)
    for (let excess = left - perUser; excess > 0 && gone.length < MOST_AT_ONCE; excess--) {
      const most = grants.reduce((one, other) => (other.others.length > one.others.length ? other : one))
      gone.push(...most.others.splice(0, 1))
    }
    return gone.slice(0, MOST_AT_ONCE)
  }

  #look(id: string): void {
    const token = this.#view.get('token', id)?.value
    if (token !== undefined) this.#note(token)
    else this.#forget(id)
  }

  #forget(id: string): void {
    const place = this.#known.get(id)
    if (place === undefined) return
    this.#known.delete(id)
    const grants = this.#byUser.get(place.userId)
    const ids = grants?.get(place.grant)
    ids?.delete(id)
    if (ids?.size === 0) grants?.delete(place.grant)
    if (grants?.size === 0) this.#byUser.delete(place.userId)
  }

  #note(token: Token): void {
    const { id, userId } = token
    const grant = grantOf(token)
    const grants = this.#byUser.get(userId) ?? new Map<string, Set<string>>()
    const ids = grants.get(grant) ?? new Set<string>()
    this.#byUser.set(userId, grants.set(grant, ids.add(id)))
    this.#known.set(id, { userId, grant })
  }
}

interface Place {
  readonly userId: string
  readonly grant: string
}

const PASSWORD = ''
const grantOf = (token: Token): string => credentialOf(token) ?? PASSWORD
