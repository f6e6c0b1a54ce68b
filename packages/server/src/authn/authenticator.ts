import { SpoutError } from '@spout/model'
import {
  badCredentials,
  type CredentialName,
  findCredential,
  findUser,
  type Scope,
  scopedProject,
  type UserName,
} from './accounts.ts'
import { staysInProject } from './balancer.ts'
import { credentialOf } from './grant.ts'
import { type IssuedToken, IssuedTokens, type IssuedTokensOptions } from './issued-tokens.ts'
import { LoginLimiter } from './login-limiter.ts'
import { sourceOf } from './login-source.ts'
import { type PageCookie, pageCookie } from './page-cookie.ts'
import { Passwords } from './password.ts'
import type { ServiceAccounts } from './service-accounts.ts'

export interface AuthenticatorOptions extends IssuedTokensOptions {
  /** Service accounts of the cluster that we run in. Without it their tokens are refused. */
  readonly serviceAccounts?: ServiceAccounts
  readonly passwords?: Passwords
  /** The cookie of the web page's session. Default: that of an API without TLS. */
  readonly cookie?: PageCookie
}

/**
 * Logs in users, application credentials and service accounts. Every refused login gets the same answer, whatever was
 * wrong.
 */
export class Authenticator {
  readonly passwords: Passwords
  readonly tokens: IssuedTokens
  readonly cookie: PageCookie
  readonly #options: AuthenticatorOptions
  readonly #limiter: LoginLimiter

  constructor(options: AuthenticatorOptions) {
    this.#options = options
    this.passwords = options.passwords ?? new Passwords()
    this.#limiter = new LoginLimiter(options.clock)
    this.tokens = new IssuedTokens(options)
    this.cookie = options.cookie ?? pageCookie(false)
  }

  /**
   * @param address of the client, for the limit on failures
   * @throws SpoutError Unauthenticated, Unavailable when too many wait
   */
  async loginWithPassword(user: UserName, password: string, scope: Scope, address: string): Promise<IssuedToken> {
    const known = findUser(this.#options.view, user)
    const name = known?.id ?? unknownName('id' in user ? user.id : user.name)
    const found = await this.#checked(name, address, async (atTurn) => {
      const asker = { user: name, source: sourceOf(address) }
      const right = await this.passwords.verify(password, known?.passwordHash ?? null, asker, atTurn)
      return right && known?.enabled === true ? known : null
    })
    const projectId = scopedProject(this.#options.view, found, scope)
    return this.tokens.issue({ user: found, projectId, limit: null, method: 'password', note: '', notAfter: null })
  }

  async loginWithCredential(wanted: CredentialName, secret: string, address: string): Promise<IssuedToken> {
    const known = findCredential(this.#options.view, wanted)
    const name = known?.id ?? unknownName('id' in wanted ? wanted.id : wanted.name)
    const credential = await this.#checked(name, address, async (atTurn) => {
      const asker = { user: known?.userId ?? name, source: sourceOf(address) }
      const right = await this.passwords.verify(secret, known?.secretHash ?? null, asker, atTurn)
      return right && known !== null && !this.#isPast(known.expiresAt) ? known : null
    })
    const user = this.#options.view.get('user', credential.userId)?.value
    if (user?.enabled !== true) throw badCredentials()
    const projectId = scopedProject(this.#options.view, user, { id: credential.projectId })
    return this.tokens.issue({
      user,
      projectId,
      limit: credential.roles,
      method: 'application_credential',
      note: credential.id,
      notAfter: credential.expiresAt,
    })
  }

  /**
   * Logs in a pod of the cluster that we run in. The new token expires no later than the pod's.
   * @param address of the pod, for the limit on failures
   */
  async loginWithServiceAccount(token: string, address: string): Promise<IssuedToken> {
    const { serviceAccounts, view } = this.#options
    if (serviceAccounts === undefined) {
      throw new SpoutError('Unauthenticated', { reason: 'service accounts are not known here' })
    }
    const { account, expiresAt } = await serviceAccounts.accountOf(token, address)
    const user = view.list('user').find((known) => known.name === userNameOf(account.account))
    if (user?.enabled !== true) throw badCredentials()
    const projectId = scopedProject(view, user, { name: account.projectName })
    return this.tokens.issue({ user, projectId, limit: [account.role], method: 'token', note: '', notAfter: expiresAt })
  }

  /** Exchanges a token for one with another scope, which expires no later. */
  async loginWithToken(secret: string, scope: Scope): Promise<IssuedToken> {
    const session = this.tokens.session(secret)
    const { token } = session
    const user = this.#options.view.get('user', token.userId)?.value
    if (user === undefined) throw badCredentials()
    const credentialId = credentialOf(token)
    const projectId = scopedProject(this.#options.view, user, scope)
    const stays = staysInProject(session)
    if (stays && projectId !== token.projectId) throw badCredentials()
    return this.tokens.issue({
      user,
      projectId,
      limit: stays ? token.roles : null,
      method: credentialId === null ? 'token' : 'application_credential',
      note: credentialId ?? '',
      notAfter: token.expiresAt,
    })
  }

  /** Whether this is the user's present password. A user who sets a new one has to name it. */
  async isPassword(userId: string, password: string, address: string): Promise<boolean> {
    const user = this.#options.view.get('user', userId)?.value
    const asker = { user: userId, source: sourceOf(address) }
    const check = this.#checked(userId, address, async (atTurn) =>
      (await this.passwords.verify(password, user?.passwordHash ?? null, asker, atTurn)) ? true : null,
    )
    return check.catch((error: unknown) => {
      if (error instanceof SpoutError && error.code === 'Unauthenticated') return false
      throw error
    })
  }

  /** Whom a login is for, for the audit log; null for an unknown name, because people type passwords there. */
  ownerOf(
    wanted: UserName | { readonly credential: CredentialName },
  ): { readonly userId: string; readonly userName: string; readonly credentialId?: string } | null {
    const credential = 'credential' in wanted ? findCredential(this.#options.view, wanted.credential) : null
    const user =
      'credential' in wanted
        ? (this.#options.view.get('user', credential?.userId ?? '')?.value ?? null)
        : findUser(this.#options.view, wanted)
    if (user === null) return null
    return { userId: user.id, userName: user.name, ...(credential && { credentialId: credential.id }) }
  }

  /** Checks a secret within the limit on failures. */
  async #checked<T>(name: string, address: string, check: (atTurn: () => void) => Promise<T | null>): Promise<T> {
    await this.#limiter.turn(name, address)
    const found = await check(() => this.#limiter.check(name, address))
    if (found === null) {
      this.#limiter.failed(name, address)
      this.#options.log.info({ event: 'login-failed', address }, 'login refused')
      throw badCredentials()
    }
    this.#limiter.succeeded(name, address)
    return found
  }

  #isPast(time: string | null): boolean {
    return time !== null && Date.parse(time) <= this.#options.clock.now().getTime()
  }
}

/** Users of service accounts have no password. */
export const userNameOf = (account: string): string => `kubernetes:${account}`

/** The key of failures under an unknown name. The prefix keeps it apart from ids: a name may look like a user's id. */
const unknownName = (typed: string): string => `?${typed}`
