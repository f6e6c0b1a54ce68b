import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import * as https from 'node:https'
import Provider, { type ProviderContext } from 'oidc-provider'
import { freePort } from '../lab/free-port.ts'
import type { Issued } from '../tls/issue.ts'
import { type Forgery, forged, newSigningKey } from './signing-key.ts'

export interface OpenIdServerOptions {
  /** Where it may send browsers back to. */
  readonly redirectUri: string
  /** An address of loopback. */
  readonly host?: string
  /** For TLS as `localhost`; absent: plain HTTP. */
  readonly tls?: Issued
  /** Whether all claims are in ID tokens; else they are at the endpoint about users alone. */
  readonly claimsInTokens?: boolean
}

/** What it keeps in memory, and for how long. It would ask for each. */
const KEPT = ['AccessToken', 'AuthorizationCode', 'Grant', 'IdToken', 'Interaction', 'Session'] as const
const KEPT_SECONDS = 3600

/** Claims of a person, beside the subject. */
export type PersonClaims = Readonly<Record<string, unknown>>

/**
 * A real provider of OpenID Connect (oidc-provider, certified) with a form to log in, which takes any password. It listens
 * in this process, on loopback.
 */
export class OpenIdServer implements AsyncDisposable {
  readonly clientId = 'spout'
  readonly clientSecret = 'a-secret-of-spout-for-tests'
  readonly issuer: string
  /** Who can log in, by what they type; it is their subject, too. */
  readonly people = new Map<string, PersonClaims>()
  /** What is wrong with the next tokens; null: nothing. */
  forgery: Forgery | null = null
  readonly #own = newSigningKey()
  readonly #options: OpenIdServerOptions
  readonly #host: string
  readonly #port: number
  readonly #provider: Provider
  #server: Server | null = null

  private constructor(options: OpenIdServerOptions, port: number) {
    this.#options = options
    this.#host = options.host ?? '127.0.0.1'
    this.#port = port
    this.issuer = options.tls === undefined ? `http://${this.#host}:${port}` : `https://localhost:${port}`
    this.#provider = new Provider(this.issuer, this.#settings())
    this.#provider.use(async (context, next) => {
      await next()
      this.#forge(context)
    })
  }

  static async start(options: OpenIdServerOptions): Promise<OpenIdServer> {
    const server = new OpenIdServer(options, await freePort())
    await server.comeBack()
    return server
  }

  /** Ends all connections, and refuses new ones. */
  async goAway(): Promise<void> {
    const server = this.#server
    if (server === null) return
    this.#server = null
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }

  /** It knows no login that was under way. */
  async comeBack(): Promise<void> {
    const { tls } = this.#options
    const answer = this.#provider.callback()
    const server =
      tls === undefined ? createServer(answer) : https.createServer({ cert: tls.certificate, key: tls.key }, answer)
    server.listen(this.#port, this.#host)
    await once(server, 'listening')
    this.#server = server
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.goAway()
  }

  #forge({ oidc, body }: ProviderContext): void {
    if (this.forgery === null || oidc?.route !== 'token') return
    const tokens = body as { id_token?: string }
    if (tokens.id_token !== undefined) tokens.id_token = forged(tokens.id_token, this.#own, this.forgery)
  }

  #settings(): object {
    const { redirectUri, claimsInTokens = true } = this.#options
    return {
      clients: [{ client_id: this.clientId, client_secret: this.clientSecret, redirect_uris: [redirectUri] }],
      jwks: { keys: [this.#own.jwk] },
      cookies: { keys: ['for-tests'] },
      claims: { openid: ['sub'], profile: ['preferred_username'], email: ['email'], groups: ['groups'] },
      conformIdTokenClaims: !claimsInTokens,
      pkce: { required: () => true },
      ttl: Object.fromEntries(KEPT.map((what) => [what, KEPT_SECONDS])),
      findAccount: (_context: unknown, subject: string) => this.#account(subject),
      loadExistingGrant: consent,
    }
  }

  #account(subject: string): object | undefined {
    const claims = this.people.get(subject)
    return claims && { accountId: subject, claims: () => ({ sub: subject, ...claims }) }
  }
}

/** Nobody is asked whether Spout may know: an organisation's own provider does not either. */
async function consent({ oidc }: ProviderContext): Promise<object | undefined> {
  if (oidc === undefined) return undefined
  const { provider, client, session } = oidc
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
  grant.addOIDCScope('openid profile email groups')
  await grant.save()
  return grant
}
