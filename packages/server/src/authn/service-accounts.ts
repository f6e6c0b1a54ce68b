import { type Role, SpoutError } from '@spout/model'
import type { Clock, Logger } from '@spout/runtime'
import { LoginLimiter } from './login-limiter.ts'

/** Whose token it is, as the cluster's API server says; the shape of `reviewToken` of packages/kube. */
export interface AccountOfToken {
  readonly namespace: string
  readonly name: string
  readonly node: string | null
}

/** @returns null for a token that is not good, or not meant for us. Rejects when nobody can say. */
export type ReviewToken = (token: string) => Promise<AccountOfToken | null>

/** What a service account of the cluster is here: a role on one project, and nothing beside it. */
export interface KnownAccount {
  /** `namespace/name` */
  readonly account: string
  readonly role: Role
  readonly projectName: string
}

export interface ServiceAccountsOptions {
  readonly review: ReviewToken
  readonly accounts: readonly KnownAccount[]
  /** Whose pods are agents: each enrols the node that it runs on. `namespace/name` */
  readonly agents: string
  readonly clock: Clock
  readonly log: Logger
}

const MAX_TOKEN_LENGTH = 16_384
const MAX_SUBJECT_LENGTH = 512

/**
 * Service accounts of the cluster that we are in: who they are here is said by our settings, never by their tokens. Each
 * one that is tried is a question to the cluster's API server, so who was refused often has to wait. Failures are counted
 * by the account that a token claims to be of: a pod that guesses locks no other account of its node out.
 */
export class ServiceAccounts {
  readonly #options: ServiceAccountsOptions
  readonly #limiter: LoginLimiter

  constructor(options: ServiceAccountsOptions) {
    this.#options = options
    this.#limiter = new LoginLimiter(options.clock)
  }

  get accounts(): readonly KnownAccount[] {
    return this.#options.accounts
  }

  /**
   * @returns which account it is, and when the token ends
   * @throws SpoutError Unauthenticated for every other token; Unavailable when the API server does not say
   */
  accountOf(token: string, address: string): Promise<{ readonly account: KnownAccount; readonly expiresAt: string }> {
    return this.#checked(token, address, ({ namespace, name }) => {
      const account = this.#options.accounts.find((known) => known.account === `${namespace}/${name}`)
      if (account === undefined) throw refusal('this service account has no role here')
      return { account, expiresAt: endOf(token) }
    })
  }

  /**
   * @returns the name of the node that the agent with this token runs on
   * @throws SpoutError Unauthenticated for the token of another account, or of none that is bound to a node
   */
  nodeOf(token: string, address: string): Promise<string> {
    return this.#checked(token, address, ({ namespace, name, node }) => {
      if (`${namespace}/${name}` !== this.#options.agents) throw refusal('this service account enrols no nodes')
      if (node === null)
        throw refusal('the token says no node: it is bound to no pod, or the API server is older than 1.30')
      return node
    })
  }

  /** Runs a check of whose token it is within the limit on failures. */
  async #checked<T>(token: string, address: string, check: (found: AccountOfToken) => T): Promise<T> {
    const claimed = claimedSubject(token)
    await this.#limiter.turn(claimed, address)
    try {
      const known = check(await this.#review(token))
      this.#limiter.succeeded(claimed, address)
      return known
    } catch (error) {
      if (error instanceof SpoutError && error.code === 'Unauthenticated') {
        this.#limiter.failed(claimed, address)
        this.#options.log.info({ event: 'login-failed', address }, 'login refused')
      }
      throw error
    }
  }

  async #review(token: string): Promise<AccountOfToken> {
    // What cannot be one need not be asked about.
    if (token.length > MAX_TOKEN_LENGTH || token.split('.').length !== 3) throw unknown()
    const found = await this.#options.review(token).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      throw new SpoutError('Unavailable', { what: 'The API server of the cluster', reason })
    })
    if (found === null) throw unknown()
    return found
  }
}

/** The claim `exp` (RFC 7519 section 4.1.4) of a token that was verified. */
function endOf(token: string): string {
  const claims = parseClaims(token.split('.')[1] ?? '')
  if (typeof claims?.exp !== 'number' || !Number.isSafeInteger(claims.exp)) throw refusal('the token has no end')
  return new Date(claims.exp * 1000).toISOString()
}

/** The claim `sub` of a token that nobody has verified yet: good enough to count by, and for nothing else. */
function claimedSubject(token: string): string {
  if (token.length > MAX_TOKEN_LENGTH) return ''
  const subject = parseClaims(token.split('.')[1] ?? '')?.sub
  return typeof subject === 'string' ? subject.slice(0, MAX_SUBJECT_LENGTH) : ''
}

interface Claims {
  readonly exp?: unknown
  readonly sub?: unknown
}

function parseClaims(part: string): Claims | null {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Claims
  } catch {
    return null
  }
}

const refusal = (reason: string): SpoutError => new SpoutError('Unauthenticated', { reason })
const unknown = (): SpoutError => refusal('the service account token is not known')
