import type { SpoutError } from '@spout/model'
import type { Clock, Logger, Secret } from '@spout/runtime'
import type { Configuration } from 'openid-client'
import { type Attempt, challengeOf } from './attempt.ts'
import type { ClaimNames, Claims } from './claims.ts'
import { providerFetch } from './provider-fetch.ts'
import { refusalOf, unavailable } from './refusal.ts'

export interface OpenIdProviderOptions {
  /** What people call it. */
  readonly name: string
  readonly issuer: string
  readonly clientId: string
  /** Null for a public client, which has PKCE alone. */
  readonly clientSecret: Secret<string> | null
  /** Where the provider sends the browser back to. */
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly claims: ClaimNames
  /** PEM of the authorities that its certificate may be from; null: those of the system. */
  readonly ca: string | null
  /** For one request and its whole answer. */
  readonly timeoutMs: number
  readonly clock: Clock
  readonly log: Logger
}

/** What the browser brings back. */
export interface ProviderAnswer {
  readonly code: string
  readonly state: string
  /** RFC 9207. */
  readonly iss?: string | undefined
}

type Library = typeof import('openid-client')

interface Discovered {
  readonly library: Library
  readonly configuration: Configuration
}

/**
 * How long what a provider says of itself counts, and its keys. Asked at almost every login, it is known to be there
 * before a browser is sent to it, and new keys count at once. Strangers who begin many logins do not make it answer each.
 */
const DISCOVERED_FOR_MS = 5000
/** After the provider did not answer, logins within this time do not wait for it again. */
const AWAY_FOR_MS = 1000

/**
 * An OpenID Connect provider, as its client (authorization code flow with PKCE). Nothing is asked, nor the library
 * loaded, before somebody logs in; so a provider that is away holds up nothing else.
 */
export class OpenIdProvider {
  readonly #options: OpenIdProviderOptions
  #discovered: { readonly found: Promise<Discovered>; readonly atMs: number } | null = null
  #away: { readonly error: SpoutError; readonly atMs: number } | null = null

  constructor(options: OpenIdProviderOptions) {
    this.#options = options
  }

  /** Where a browser goes to log in. @throws SpoutError Unavailable */
  async loginUrl(attempt: Attempt): Promise<string> {
    const { redirectUri, scopes } = this.#options
    const { library, configuration } = await this.#discover()
    const url = library.buildAuthorizationUrl(configuration, {
      ...{ redirect_uri: redirectUri, scope: scopes.join(' '), state: attempt.state, nonce: attempt.nonce },
      ...{ code_challenge: challengeOf(attempt), code_challenge_method: 'S256' },
    })
    return url.href
  }

  /**
   * Exchanges the code for what the provider says of the person: the claims of its ID token and, for those that are not
   * in it, of the endpoint about users. Signature, issuer, audience, nonce and times of the token were verified.
   * @throws SpoutError Unauthenticated, Unavailable
   */
  async claimsOf(attempt: Attempt, { code, state, iss }: ProviderAnswer): Promise<Claims> {
    const { name, redirectUri } = this.#options
    const discovered = await this.#discover()
    const { library, configuration } = discovered
    const returned = new URL(redirectUri)
    returned.search = String(new URLSearchParams({ code, state, ...(iss !== undefined && { iss }) }))
    try {
      const tokens = await library.authorizationCodeGrant(configuration, returned, {
        ...{ expectedState: attempt.state, expectedNonce: attempt.nonce, pkceCodeVerifier: attempt.verifier },
        idTokenExpected: true,
      })
      return await this.#withMissing(discovered, tokens.claims() ?? {}, tokens.access_token)
    } catch (error) {
      const refusal = refusalOf(name, error)
      this.#options.log.warn({ event: 'oidc-refused', reason: refusal.message }, 'a login by OpenID Connect failed')
      throw refusal
    }
  }

  /** Adds what the ID token leaves to the endpoint about users (OpenID Connect Core 1.0, section 5.4). */
  async #withMissing({ library, configuration }: Discovered, claims: Claims, accessToken: string): Promise<Claims> {
    const { claims: names } = this.#options
    const isWhole = Object.hasOwn(claims, names.user) && Object.hasOwn(claims, names.groups)
    if (isWhole || configuration.serverMetadata().userinfo_endpoint === undefined) return claims
    const more = await library.fetchUserInfo(configuration, accessToken, String(claims['sub']))
    return { ...more, ...claims }
  }

  /** Logins at the same time share one question. @throws SpoutError Unavailable */
  #discover(): Promise<Discovered> {
    const nowMs = this.#options.clock.monotonicMs()
    if (this.#discovered !== null && nowMs - this.#discovered.atMs < DISCOVERED_FOR_MS) return this.#discovered.found
    if (this.#away !== null && nowMs - this.#away.atMs < AWAY_FOR_MS) return Promise.reject(this.#away.error)
    const found = this.#ask()
    this.#discovered = { found, atMs: nowMs }
    return found
  }

  async #ask(): Promise<Discovered> {
    const { name, issuer, clientId, clientSecret, timeoutMs, ca, log, clock } = this.#options
    try {
      const library = await import('openid-client')
      const insecure = issuer.startsWith('http:') ? [library.allowInsecureRequests] : []
      const configuration = await library.discovery(
        new URL(issuer),
        clientId,
        {},
        authentication(library, clientSecret),
        {
          ...{ timeout: timeoutMs / 1000, [library.customFetch]: providerFetch(ca) },
          // Without it the library trusts the connection, and looks at no signature.
          execute: [...insecure, library.enableNonRepudiationChecks],
        },
      )
      if (this.#away !== null) log.info({ event: 'oidc-back' }, 'the OpenID Connect provider answers again')
      this.#away = null
      return { library, configuration }
    } catch (error) {
      const refusal = unavailable(name, error)
      if (this.#away === null)
        log.warn({ event: 'oidc-away', reason: refusal.message }, 'the OpenID Connect provider does not answer')
      this.#away = { error: refusal, atMs: clock.monotonicMs() }
      this.#discovered = null
      throw refusal
    }
  }
}

/** As the provider takes a secret: in the header, which is usual where it says nothing, or in the body. */
function authentication(library: Library, secret: Secret<string> | null): import('openid-client').ClientAuth {
  if (secret === null) return library.None()
  const [basic, post] = [library.ClientSecretBasic(secret.reveal()), library.ClientSecretPost(secret.reveal())]
  return (server, ...rest) => {
    const known = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    return (known.includes('client_secret_basic') ? basic : post)(server, ...rest)
  }
}
