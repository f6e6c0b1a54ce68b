import type { Admission, ModelView } from '@spout/admission/contract'
import { SpoutError, type User } from '@spout/model'
import type { Clock } from '@spout/runtime'
import { FairTurns } from '../authn/fair-turns.ts'
import type { IssuedToken, IssuedTokens } from '../authn/issued-tokens.ts'
import { sourceOf } from '../authn/login-source.ts'
import { newUser } from '../authn/new-user.ts'
import { type PageCookie, setCookie } from '../authn/page-cookie.ts'
import { attemptIn, newAttempt, textOf } from './attempt.ts'
import { type ClaimNames, type Person, personIn } from './claims.ts'
import { type Grant, rolesBy } from './grants.ts'
import type { OpenIdProvider, ProviderAnswer } from './openid-provider.ts'
import { unauthenticated } from './refusal.ts'

export interface OpenIdLoginsOptions {
  readonly provider: Pick<OpenIdProvider, 'loginUrl' | 'claimsOf'>
  /** What people call the provider. */
  readonly name: string
  readonly issuer: string
  readonly claims: ClaimNames
  readonly grants: readonly Grant[]
  /** Where a browser keeps the login that it has begun. */
  readonly cookie: PageCookie
  /** Where browsers find the page. */
  readonly pageUrl: string
  readonly admission: Pick<Admission, 'putUser'>
  readonly view: ModelView
  readonly tokens: Pick<IssuedTokens, 'issue'>
  readonly clock: Clock
}

/** How long somebody may take to log in at the provider. */
const ATTEMPT_SECONDS = 600
/** The provider is asked this many things at once. */
const TURNS = { maxRunning: 8, maxWaiting: 64, maxWaitingOfSource: 8, maxWaitingOfUser: 8 }

/**
 * Logs people in whom an OpenID Connect provider vouches for. Each is a user here, without a password, whose roles are
 * set anew at each login: those that the settings grant to the person's groups.
 */
export class OpenIdLogins {
  readonly name: string
  readonly cookie: PageCookie
  readonly #options: OpenIdLoginsOptions
  readonly #turns = new FairTurns(TURNS)

  constructor(options: OpenIdLoginsOptions) {
    this.#options = options
    this.name = options.name
    this.cookie = options.cookie
  }

  /** Begins a login. @returns where the browser goes, and what it keeps until it comes back @throws SpoutError Unavailable */
  async begin(): Promise<{ readonly url: string; readonly setCookie: string }> {
    const attempt = newAttempt()
    const url = await this.#options.provider.loginUrl(attempt)
    return { url, setCookie: setCookie(this.cookie, textOf(attempt), ATTEMPT_SECONDS) }
  }

  /**
   * Whom the answer of the provider names.
   * @param kept what the browser kept; null: nothing
   * @param address of the client, for the limit of answers at once
   * @throws SpoutError Unauthenticated; Unavailable when the provider does not answer, or too many wait for it
   */
  async personOf(kept: string | null, answer: ProviderAnswer, address: string): Promise<Person> {
    const { provider, issuer, claims: names, pageUrl } = this.#options
    const attempt = kept === null ? null : attemptIn(kept)
    if (attempt === null || attempt.state !== answer.state)
      throw unauthenticated(`this browser has not begun this login, or began it too long ago: log in at ${pageUrl}`)
    const asker = { user: '', source: sourceOf(address) }
    return personIn(await this.#turns.run(asker, () => provider.claimsOf(attempt, answer)), issuer, names)
  }

  /**
   * A token for a person whom the provider vouches for now.
   * @throws SpoutError Forbidden for one who has no role here (any more); sessions of that person end
   */
  async logIn(person: Person): Promise<IssuedToken> {
    const { view, grants, tokens } = this.#options
    const stored = view.get('user', person.id)?.value ?? null
    const roles = rolesBy(grants, person.groups, view.list('project'))
    if (roles.length === 0) {
      if (stored !== null && stored.roles.length > 0) await this.#put({ ...stored, roles })
      throw this.#withoutRole(person)
    }
    if (stored?.enabled === false) throw new SpoutError('Forbidden', { reason: `${stored.name} is disabled here` })
    const user = await this.#present(person, stored, roles)
    return tokens.issue({
      user,
      projectId: onlyProject(roles),
      ...{ limit: null, method: 'oidc', note: '', notAfter: null },
    })
  }

  #withoutRole({ groups }: Person): SpoutError {
    const { name, claims } = this.#options
    const reason =
      groups.length === 0
        ? `${name} names no groups of yours in the claim ${claims.groups}`
        : `none of your groups in the claim ${claims.groups} of ${name} has a role here`
    return new SpoutError('Forbidden', { reason: `${reason}; ask your administrator` })
  }

  /** The user of a person, as the provider says now. */
  async #present(person: Person, stored: User | null, roles: User['roles']): Promise<User> {
    const names = [person.name, `${person.name} (${person.id.slice(0, 8)})`] as const
    if (stored !== null && names.includes(stored.name) && areSame(stored.roles, roles)) return stored
    const user = stored ?? { ...newUser({ name: person.name, description: '' }, this.#options.clock), id: person.id }
    const [own, other] = names
    try {
      return await this.#put({ ...user, name: own, roles })
    } catch (error) {
      // Another subject of the provider has this name.
      if (!(error instanceof SpoutError) || error.code !== 'NameTaken') throw error
      return this.#put({ ...user, name: other, roles })
    }
  }

  #put(user: User): Promise<User> {
    const { admission, view, clock } = this.#options
    const isNew = view.get('user', user.id) === null
    return admission.putUser({ ...user, updatedAt: isNew ? null : clock.now().toISOString() })
  }
}

/** The project of all these roles; null when there are several to choose from. */
function onlyProject(roles: User['roles']): string | null {
  const [first, ...others] = new Set(roles.map(({ projectId }) => projectId))
  return first !== undefined && others.length === 0 ? first : null
}

const areSame = (one: User['roles'], other: User['roles']): boolean =>
  one.length === other.length &&
  one.every(({ projectId, role }) => other.some((each) => each.projectId === projectId && each.role === role))
