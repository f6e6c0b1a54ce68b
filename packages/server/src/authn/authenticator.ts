import type { ModelView, Principal } from '@spout/admission/contract'
import { type ApplicationCredential, type Role, SpoutError, type Token, type User } from '@spout/model'
import type { Clock, Logger } from '@spout/runtime'
import type { Store } from '@spout/store'
import { mayOnlyBalance } from './balancer.ts'
import { credentialOf, type Method } from './grant.ts'
import { GrantTokens, type TokenBounds } from './grant-tokens.ts'
import { LoginLimiter } from './login-limiter.ts'
import { sourceOf } from './login-source.ts'
import { Passwords } from './password.ts'
import { holds, isAssigned, rolesOn, withIncluded } from './roles.ts'
import type { ServiceAccounts } from './service-accounts.ts'
import { newSecret, secretSha256 } from './token-secret.ts'

export interface AuthenticatorOptions {
  readonly store: Store
  readonly view: ModelView
  readonly clock: Clock
  readonly log: Logger
  readonly tokenTtlMs?: number
  /** Limits that are not named have their defaults. */
  readonly tokenBounds?: Partial<TokenBounds>
  /** Service accounts of the cluster that we run in. Without it their tokens are refused. */
  readonly serviceAccounts?: ServiceAccounts
  readonly passwords?: Passwords
}

/** How a user is named: by id or by name. */
export type UserName = { readonly id: string } | { readonly name: string }

/** Null is an unscoped token, which may only ask who its user is. */
export type Scope = { readonly id: string } | { readonly name: string } | null

/** The contents of a valid token. */
export interface Session {
  readonly principal: Principal
  readonly token: Token
}

export interface IssuedToken extends Session {
  /** Shown once. */
  readonly secret: string
}

interface KnownPrincipal {
  readonly user: User
  readonly principal: Principal | null
  readonly expiresAtMs: number
}

const DEFAULT_TTL_MS = 8 * 3_600_000
/** A script that logs in for each call creates many, and uses each for seconds. */
const DEFAULT_BOUNDS: TokenBounds = { perGrant: 250, perUser: 1000 }
const SWEEP_INTERVAL_MS = 60_000
const SWEEP_BATCH = 500

/**
 * Users, application credentials and tokens of our own. Tokens are found in the view by their hash, so a request costs
 * a map look-up. A disabled user, a lost role or a deleted credential ends them at once.
 *
 * Every refused login gets the same answer, whatever was wrong.
 */
export class Authenticator {
  readonly passwords: Passwords
  readonly #options: AuthenticatorOptions
  readonly #limiter: LoginLimiter
  readonly #tokens: GrantTokens
  readonly #ttlMs: number
  /** The parts that depend on a token and its user alone. A changed token or user is a new object. */
  readonly #principals = new WeakMap<Token, KnownPrincipal>()
  #sweep: { clear(): void } | null = null

  constructor(options: AuthenticatorOptions) {
    this.#options = options
    this.passwords = options.passwords ?? new Passwords()
    this.#limiter = new LoginLimiter(options.clock)
    this.#tokens = new GrantTokens(options.view)
    this.#ttlMs = options.tokenTtlMs ?? DEFAULT_TTL_MS
  }

  /** Whether this is a token of ours, valid or not. */
  issued(secret: string): boolean {
    return this.#options.view.get('token', secretSha256(secret)) !== null
  }

  /**
   * Whom a token of ours is for, valid or not: its project, or its user if it has none. Null for any other token.
   * @param id the secret's hash, if it is known
   */
  holderOf(secret: string, id = secretSha256(secret)): string | null {
    const token = this.#options.view.get('token', id)?.value
    if (token === undefined) return null
    return token.projectId === null ? `user ${token.userId}` : `project ${token.projectId}`
  }

  /**
   * @param id the secret's hash, if it is known
   * @throws SpoutError Unauthenticated, TokenExpired
   */
  session(secret: string, id = secretSha256(secret)): Session {
    const token = this.#options.view.get('token', id)?.value
    if (token === undefined) throw unauthenticated('the token is not known')
    const principal = this.#principalOf(token)
    if (principal === null) throw unauthenticated('the token is no longer valid')
    return { principal, token }
  }

  /**
   * @param address of the client, for the limit on failures
   * @throws SpoutError Unauthenticated, Unavailable when too many wait
   */
  async loginWithPassword(user: UserName, password: string, scope: Scope, address: string): Promise<IssuedToken> {
    const known = this.#findUser(user)
    const name = known?.id ?? unknownName('id' in user ? user.id : user.name)
    const found = await this.#checked(name, address, async (atTurn) => {
      const asker = { user: name, source: sourceOf(address) }
      const right = await this.passwords.verify(password, known?.passwordHash ?? null, asker, atTurn)
      return right && known?.enabled === true ? known : null
    })
    return this.#issue(found, this.#projectOf(found, scope), null, 'password', '', null)
  }

  async loginWithCredential(
    wanted: { readonly id: string } | { readonly name: string; readonly user: UserName },
    secret: string,
    address: string,
  ): Promise<IssuedToken> {
    const known = this.#findCredential(wanted)
    const name = known?.id ?? unknownName('id' in wanted ? wanted.id : wanted.name)
    const credential = await this.#checked(name, address, async (atTurn) => {
      const asker = { user: known?.userId ?? name, source: sourceOf(address) }
      const right = await this.passwords.verify(secret, known?.secretHash ?? null, asker, atTurn)
      return right && known !== null && !this.#isPast(known.expiresAt) ? known : null
    })
    const user = this.#options.view.get('user', credential.userId)?.value
    if (user?.enabled !== true) throw badCredentials()
    const projectId = this.#projectOf(user, { id: credential.projectId })
    return this.#issue(user, projectId, credential.roles, 'application_credential', credential.id, credential.expiresAt)
  }

  /**
   * Logs in a pod of the cluster that we run in. The new token expires no later than the pod's.
   * @param address of the pod, for the limit on failures
   */
  async loginWithServiceAccount(token: string, address: string): Promise<IssuedToken> {
    const { serviceAccounts, view } = this.#options
    if (serviceAccounts === undefined) throw unauthenticated('service accounts are not known here')
    const { account, expiresAt } = await serviceAccounts.accountOf(token, address)
    const user = view.list('user').find((known) => known.name === userNameOf(account.account))
    if (user?.enabled !== true) throw badCredentials()
    const projectId = this.#projectOf(user, { name: account.projectName })
    return this.#issue(user, projectId, [account.role], 'token', '', expiresAt)
  }

  /** Exchanges a token for one with another scope, which expires no later. */
  async loginWithToken(secret: string, scope: Scope): Promise<IssuedToken> {
    const { token, principal } = this.session(secret)
    const user = this.#options.view.get('user', token.userId)?.value
    if (user === undefined) throw badCredentials()
    const credentialId = credentialOf(token)
    const projectId = this.#projectOf(user, scope)
    if (mayOnlyBalance(principal)) {
      // The user may have other roles in other projects. This token must not lead there.
      if (projectId !== token.projectId) throw badCredentials()
      const [method, note] =
        credentialId === null ? (['token', ''] as const) : (['application_credential', credentialId] as const)
      return this.#issue(user, projectId, token.roles, method, note, token.expiresAt)
    }
    if (credentialId === null) return this.#issue(user, projectId, null, 'token', '', token.expiresAt)
    // A credential is for one project. Its tokens cannot move to another.
    if (projectId !== token.projectId) throw badCredentials()
    return this.#issue(user, projectId, token.roles, 'application_credential', credentialId, token.expiresAt)
  }

  /** Whether this is the user's password, for a change of it. */
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
    wanted:
      | UserName
      | { readonly credential: { readonly id: string } | { readonly name: string; readonly user: UserName } },
  ): { readonly userId: string; readonly userName: string; readonly credentialId?: string } | null {
    const credential = 'credential' in wanted ? this.#findCredential(wanted.credential) : null
    const user =
      'credential' in wanted
        ? (this.#options.view.get('user', credential?.userId ?? '')?.value ?? null)
        : this.#findUser(wanted)
    if (user === null) return null
    return { userId: user.id, userName: user.name, ...(credential && { credentialId: credential.id }) }
  }

  async revoke(tokenId: string): Promise<void> {
    await this.#delete([tokenId])
  }

  /** Ends every token of a user after a change of password. */
  async revokeUser(userId: string): Promise<void> {
    await this.#delete(this.#tokenIds((token) => token.userId === userId))
  }

  /** Starts to remove expired tokens now and then. */
  start(): void {
    const { clock, log } = this.#options
    const next = () => {
      this.#sweep = clock.setTimer(() => {
        this.sweep().catch((error: unknown) => log.warn({ event: 'token-sweep-failed', err: error }, 'will try again'))
        next()
      }, SWEEP_INTERVAL_MS)
    }
    next()
  }

  stop(): void {
    this.#sweep?.clear()
  }

  /** Removes expired tokens, a limited number at a time. */
  async sweep(): Promise<void> {
    await this.#delete(this.#tokenIds((token) => this.#isPast(token.expiresAt)).slice(0, SWEEP_BATCH))
  }

  #principalOf(token: Token): Principal | null {
    const { view, clock } = this.#options
    const known = this.#principals.get(token)
    const expiresAtMs = known?.expiresAtMs ?? Date.parse(token.expiresAt)
    if (expiresAtMs <= clock.now().getTime()) throw new SpoutError('TokenExpired', { expiresAt: token.expiresAt })
    const user = view.get('user', token.userId)?.value
    if (user?.enabled !== true) return null
    const credentialId = credentialOf(token)
    if (credentialId !== null && view.get('applicationCredential', credentialId) === null) return null
    if (token.projectId !== null && view.get('project', token.projectId)?.value.enabled !== true) return null
    if (known?.user === user) return known.principal
    const principal = principalFrom(token, user)
    this.#principals.set(token, { user, principal, expiresAtMs })
    return principal
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

  async #issue(
    user: User,
    projectId: string | null,
    limit: readonly Role[] | null,
    method: Method,
    note: string,
    notAfter: string | null,
  ): Promise<IssuedToken> {
    const { store, view, clock } = this.#options
    const own = projectId === null ? [] : rolesOn(user, projectId)
    const roles = limit === null ? own : withIncluded(limit).filter((role) => holds(own, role))
    if (projectId !== null && limit !== null && roles.length === 0) throw badCredentials()
    const secret = newSecret()
    const expiresAt = new Date(clock.now().getTime() + this.#ttlMs).toISOString()
    const token: Token = {
      id: secretSha256(secret),
      name: method,
      description: note,
      createdAt: clock.now().toISOString(),
      updatedAt: null,
      userId: user.id,
      projectId,
      roles: [...roles],
      expiresAt: notAfter !== null && notAfter < expiresAt ? notAfter : expiresAt,
    }
    const write = { op: 'put', kind: 'token', id: token.id, scope: null, value: token, ifRevision: 'absent' } as const
    const { revision } = await store.commit([write])
    await view.caughtUp(revision)
    await this.#delete(this.#tokens.beyond(token, { ...DEFAULT_BOUNDS, ...this.#options.tokenBounds }))
    const principal = { userId: user.id, userName: user.name, projectId, roles, expiresAt: token.expiresAt }
    return { secret, token, principal }
  }

  #findUser(wanted: UserName): User | null {
    const { view } = this.#options
    if ('id' in wanted) return view.get('user', wanted.id)?.value ?? null
    return view.list('user').find((user) => user.name === wanted.name) ?? null
  }

  #findCredential(
    wanted: { readonly id: string } | { readonly name: string; readonly user: UserName },
  ): ApplicationCredential | null {
    const { view } = this.#options
    if ('id' in wanted) return view.get('applicationCredential', wanted.id)?.value ?? null
    const owner = this.#findUser(wanted.user)?.id
    return (
      view.list('applicationCredential').find((known) => known.userId === owner && known.name === wanted.name) ?? null
    )
  }

  /** The requested project if it is enabled and the user has a role in it. */
  #projectOf(user: User, scope: Scope): string | null {
    if (scope === null) return null
    const { view } = this.#options
    const project =
      'id' in scope
        ? view.get('project', scope.id)?.value
        : view.list('project').find((known) => known.name === scope.name)
    if (project?.enabled !== true || !isAssigned(user, project.id)) throw badCredentials()
    return project.id
  }

  #isPast(time: string | null): boolean {
    return time !== null && Date.parse(time) <= this.#options.clock.now().getTime()
  }

  #tokenIds(which: (token: Token) => boolean): string[] {
    return this.#options.view
      .list('token')
      .filter(which)
      .map((token) => token.id)
  }

  async #delete(ids: readonly string[]): Promise<void> {
    const { store, view } = this.#options
    for (const id of ids) {
      try {
        const { revision } = await store.commit([{ op: 'delete', kind: 'token', id }])
        await view.caughtUp(revision)
      } catch (error) {
        // Another request removed it already.
        if (!(error instanceof SpoutError) || error.code !== 'NotFound') throw error
      }
    }
  }
}

/** Users of service accounts have no password. */
export const userNameOf = (account: string): string => `kubernetes:${account}`

/** Null when the user has no role in the token's project any more. */
function principalFrom(token: Token, user: User): Principal | null {
  const { projectId, expiresAt } = token
  const base = { userId: user.id, userName: user.name, expiresAt }
  if (projectId === null) return { ...base, projectId, roles: [] }
  const now = rolesOn(user, projectId)
  const roles = token.roles.filter((role) => holds(now, role))
  // A token without roles is valid for a user who has only custom roles in the project.
  const rest = token.roles.length === 0 && isAssigned(user, projectId)
  return roles.length === 0 && !rest ? null : { ...base, projectId, roles }
}

/** Kept apart from ids, so that a name that looks like an id does not reach a user's count. */
const unknownName = (typed: string): string => `?${typed}`

const unauthenticated = (reason: string): SpoutError => new SpoutError('Unauthenticated', { reason })
const badCredentials = (): SpoutError => unauthenticated('the user, password, credential or scope is not valid')
