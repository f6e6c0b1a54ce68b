import type { Principal } from '@spout/admission/contract'
import { SpoutError, type Token } from '@spout/model'
import { type Clock, type Logger, Semaphore } from '@spout/runtime'
import type { ForeignSession, ForeignTokens } from '../authn/foreign-session.ts'
import type { Method } from '../authn/grant.ts'
import type { Session } from '../authn/issued-tokens.ts'
import { secretSha256 } from '../authn/token-secret.ts'
import { KeystoneAway, type KeystoneClient } from './keystone-client.ts'
import type { KeystoneProjects } from './keystone-projects.ts'
import { rolesOf } from './keystone-roles.ts'
import { fullName, type KeystoneToken, uuidOf } from './keystone-token.ts'

export interface KeystoneTokensOptions {
  readonly client: Pick<KeystoneClient, 'validate'>
  readonly projects: Pick<KeystoneProjects, 'idFor'>
  readonly clock: Clock
  readonly log: Logger
  /** How long an answer about a token is trusted, so how long a revoked one may go on working. 0: each request asks. */
  readonly cacheMs: number
  /** How long a token stays valid after its last confirmation while Keystone does not answer. */
  readonly outageMs: number
}

interface Confirmed {
  readonly token: KeystoneToken
  readonly atMs: number
}

const MOST_TOKEN_LENGTH = 4096
/** The characters of tokens in headers: Fernet and JWS tokens are base64url with dots. */
const TOKEN = /^[\x21-\x7e]+$/
const MOST_CONFIRMED = 10_000
const MOST_REFUSED = 10_000
/** A client that repeats a refused token causes a question to Keystone at most this often. */
const REFUSED_FOR_MS = 5000
const MOST_AT_ONCE = 16
const MOST_WAITING = 1000
/** After Keystone did not answer, requests within this time do not wait for it again. */
const AWAY_FOR_MS = 1000
/** An open stream asks no more often than this. */
const SHORTEST_RENEWAL_MS = 1000

/**
 * Tokens of a real Keystone. Each is asked about once and then trusted for a while; what Keystone refused is not asked
 * again at once. Tokens are kept by their hash.
 */
export class KeystoneTokens implements ForeignTokens {
  readonly #options: KeystoneTokensOptions
  /** By hash; the one that was confirmed longest ago is first. */
  readonly #confirmed = new Map<string, Confirmed>()
  /** Hashes, with the time of the refusal; the oldest first. */
  readonly #refused = new Map<string, number>()
  readonly #asking = new Map<string, Promise<KeystoneToken | null>>()
  readonly #turns = new Semaphore(MOST_AT_ONCE)
  #away: { readonly error: SpoutError; readonly atMs: number } | null = null

  constructor(options: KeystoneTokensOptions) {
    this.#options = options
  }

  isKnown(secret: string): boolean {
    return this.#confirmed.has(secretSha256(secret))
  }

  async open(secret: string): Promise<ForeignSession> {
    let session = await this.#session(secret)
    let ended: unknown = null
    return {
      current: () => {
        if (ended !== null) throw ended
        this.#requireCurrent(session.token.expiresAt)
        return session
      },
      renew: async () => {
        try {
          session = await this.#session(secret)
        } catch (error) {
          ended = error
        }
      },
      renewEveryMs: Math.max(this.#options.cacheMs, SHORTEST_RENEWAL_MS),
    }
  }

  async #session(secret: string): Promise<Session> {
    if (secret.length > MOST_TOKEN_LENGTH || !TOKEN.test(secret)) throw unknown()
    const id = secretSha256(secret)
    const token = await this.#tokenOf(id, secret)
    this.#requireCurrent(token.expires_at)
    return sessionOf(id, token, await this.#options.projects.idFor(token))
  }

  /** @throws SpoutError Unauthenticated, Unavailable */
  async #tokenOf(id: string, secret: string): Promise<KeystoneToken> {
    const { cacheMs, outageMs } = this.#options
    const known = this.#confirmed.get(id)
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : this.#nowMs() - known.atMs
    if (known !== undefined && ageMs < cacheMs) return known.token
    const refusedAtMs = this.#refused.get(id)
    if (refusedAtMs !== undefined && this.#nowMs() - refusedAtMs < Math.min(REFUSED_FOR_MS, cacheMs)) throw unknown()
    try {
      const token = await this.#ask(id, secret)
      if (token === null) throw unknown()
      return token
    } catch (error) {
      if (known !== undefined && ageMs < outageMs && isUnavailable(error)) return known.token
      throw error
    }
  }

  /** Requests with the same token share one question. */
  #ask(id: string, secret: string): Promise<KeystoneToken | null> {
    const running = this.#asking.get(id)
    if (running !== undefined) return running
    const away = this.#away
    if (away !== null && this.#nowMs() - away.atMs < AWAY_FOR_MS) return Promise.reject(away.error)
    if (this.#asking.size >= MOST_WAITING)
      return Promise.reject(new SpoutError('Unavailable', { what: 'Keystone', reason: 'too many tokens wait for it' }))
    const started = this.#turns.run(() => this.#validate(id, secret)).finally(() => this.#asking.delete(id))
    this.#asking.set(id, started)
    return started
  }

  async #validate(id: string, secret: string): Promise<KeystoneToken | null> {
    const { client, log } = this.#options
    const away = this.#away
    // Keystone stopped answering while this request waited for its turn.
    if (away !== null && this.#nowMs() - away.atMs < AWAY_FOR_MS) throw away.error
    // The answer's age counts from the question.
    const atMs = this.#nowMs()
    try {
      const token = await client.validate(secret)
      if (this.#away !== null) log.info({ event: 'keystone-back' }, 'Keystone answers again')
      this.#away = null
      this.#note(id, token, atMs)
      return token
    } catch (error) {
      if (error instanceof KeystoneAway) {
        if (this.#away === null) log.warn({ event: 'keystone-away', err: error }, 'Keystone does not answer')
        this.#away = { error, atMs: this.#nowMs() }
      }
      throw error
    }
  }

  #note(id: string, token: KeystoneToken | null, atMs: number): void {
    this.#confirmed.delete(id)
    this.#refused.delete(id)
    if (token === null) put(this.#refused, id, atMs, MOST_REFUSED)
    else put(this.#confirmed, id, { token, atMs }, MOST_CONFIRMED)
  }

  #requireCurrent(expiresAt: string): void {
    if (Date.parse(expiresAt) <= this.#options.clock.now().getTime())
      throw new SpoutError('TokenExpired', { expiresAt })
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }
}

/** Adds to a map, and takes the oldest out when there are too many. */
function put<V>(map: Map<string, V>, key: string, value: V, most: number): void {
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= most) return
    map.delete(oldest)
  }
}

function sessionOf(id: string, token: KeystoneToken, projectId: string | null): Session {
  const roles = rolesOf(token)
  const expiresAt = new Date(token.expires_at).toISOString()
  const userId = uuidOf(token.user.id)
  const principal: Principal = { userId, userName: fullName(token.user), projectId, roles, expiresAt }
  const method = methodOf(token)
  const shown: Token = {
    ...{ id, name: method, description: token.application_credential?.id ?? '' },
    ...{ createdAt: new Date(token.issued_at).toISOString(), updatedAt: null },
    ...{ userId, projectId, roles: [...roles], expiresAt },
  }
  return { principal, token: shown }
}

function methodOf({ methods, application_credential: credential }: KeystoneToken): Method {
  if (credential !== undefined) return 'application_credential'
  return methods.includes('password') ? 'password' : 'token'
}

const isUnavailable = (error: unknown): error is SpoutError =>
  error instanceof SpoutError && error.code === 'Unavailable'

const unknown = (): SpoutError =>
  new SpoutError('Unauthenticated', { reason: 'neither Spout nor Keystone knows the token' })
