import type { ModelView, Principal } from '@spout/admission/contract'
import { type Role, SpoutError, type Token, type User } from '@spout/model'
import type { Clock, Logger } from '@spout/runtime'
import type { Store } from '@spout/store'
import { badCredentials } from './accounts.ts'
import { credentialOf, type Method } from './grant.ts'
import { GrantTokens, type TokenBounds } from './grant-tokens.ts'
import { holds, isAssigned, rolesOn, withIncluded } from './roles.ts'
import { newSecret, secretSha256 } from './token-secret.ts'

export interface IssuedTokensOptions {
  readonly store: Store
  readonly view: ModelView
  readonly clock: Clock
  readonly log: Logger
  readonly tokenTtlMs?: number
  /** Limits that are not named have their defaults. */
  readonly tokenBounds?: Partial<TokenBounds>
}

/** The contents of a valid token. */
export interface Session {
  readonly principal: Principal
  readonly token: Token
}

export interface IssuedToken extends Session {
  /** Shown once. */
  readonly secret: string
}

/** What a token is issued for. */
export interface TokenSpec {
  readonly user: User
  /** Null for an unscoped token. */
  readonly projectId: string | null
  /** The token has no role beyond these; null: all that the user has in the project. */
  readonly limit: readonly Role[] | null
  readonly method: Method
  /** The id of the application credential that asked; empty for a user. */
  readonly note: string
  /** The token expires no later; null: after the time to live of every token. */
  readonly notAfter: string | null
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
 * Our own tokens. They are found in the view by their hash, so a request costs a map look-up. A disabled user, a lost
 * role or a deleted credential ends them at once.
 */
export class IssuedTokens {
  readonly #options: IssuedTokensOptions
  readonly #tokens: GrantTokens
  readonly #ttlMs: number
  /** The parts that depend on a token and its user alone. A changed token or user is a new object. */
  readonly #principals = new WeakMap<Token, KnownPrincipal>()
  #sweep: { clear(): void } | null = null

  constructor(options: IssuedTokensOptions) {
    this.#options = options
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

  /** @throws SpoutError Unauthenticated when none of the roles is left */
  async issue({ user, projectId, limit, method, note, notAfter }: TokenSpec): Promise<IssuedToken> {
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

  async revoke(tokenId: string): Promise<void> {
    await this.#delete([tokenId])
  }

  /** Ends every token of a user after a change of password. */
  async revokeUser(userId: string): Promise<void> {
    await this.#delete(this.#tokenIds((token) => token.userId === userId))
  }

  /** Starts to remove expired tokens once a minute. */
  start(): void {
    const { clock, log } = this.#options
    const next = () => {
      this.#sweep = clock.setTimer(() => {
        this.sweep().catch((error: unknown) =>
          log.warn({ event: 'token-sweep-failed', err: error }, 'expired tokens were not deleted; will try again'),
        )
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

  #isPast(time: string): boolean {
    return Date.parse(time) <= this.#options.clock.now().getTime()
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

const unauthenticated = (reason: string): SpoutError => new SpoutError('Unauthenticated', { reason })
