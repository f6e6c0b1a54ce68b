import { type Role, SpoutError } from '@spout/model'
import type { Clock, Logger } from '@spout/runtime'
import { LoginLimiter } from './login-limiter.ts'

/** The owner of a token, as the cluster's API server reports it. Same shape as `reviewToken` of packages/kube. */
export interface AccountOfToken {
  readonly namespace: string
  readonly name: string
  readonly node: string | null
}

/** @returns null for a token that is invalid or for another audience. Rejects when the API server does not answer. */
export type ReviewToken = (token: string) => Promise<AccountOfToken | null>

/** The role of a service account in one project, its only right. */
export interface KnownAccount {
  /** `namespace/name` */
  readonly account: string
  readonly role: Role
  readonly projectName: string
}

export interface ServiceAccountsOptions {
  readonly review: ReviewToken
  readonly accounts: readonly KnownAccount[]
  /** The agents' account, `namespace/name`. Each agent enrols the node that its pod runs on. */
  readonly agents: string
  readonly clock: Clock
  readonly log: Logger
}

const MAX_TOKEN_LENGTH = 16_384
const MAX_SUBJECT_LENGTH = 512

/**
 * Service accounts of the cluster that we run in. Our settings say what each may do, never its token. Each try asks the
 * cluster's API server, so repeated failures have to wait. Failures are counted by the account that a token claims: a
 * pod that guesses locks out no other account of its node.
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
   * @returns the account, and when the token expires
   * @throws SpoutError Unauthenticated for every other token; Unavailable when the API server does not answer
   */
  accountOf(token: string, address: string): Promise<{ readonly account: KnownAccount; readonly expiresAt: string }> {
    return this.#checked(token, address, ({ namespace, name }) => {
      const account = this.#options.accounts.find((known) => known.account === `${namespace}/${name}`)
      if (account === undefined) throw refusal('this service account has no role here')
      return { account, expiresAt: endOf(token) }
    })
  }

  /**
   * @returns name of the node that the token's agent runs on
   * @throws SpoutError Unauthenticated for another account's token, or one that is not bound to a node
   */
  nodeOf(token: string, address: string): Promise<string> {
    return this.#checked(token, address, ({ namespace, name, node }) => {
      if (`${namespace}/${name}` !== this.#options.agents) throw refusal('this service account enrols no nodes')
      if (node === null)
        throw refusal('the token names no node: it is not bound to a pod, or the API server is older than 1.30')
      return node
    })
  }

  /** Reviews a token within the limit on failures. */
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
    // Do not ask about what cannot be a token.
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

/** The claim `sub` of an unverified token. It is good for counting only. */
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
