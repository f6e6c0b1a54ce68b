import type { Agent, IncomingMessage } from 'node:http'
import * as https from 'node:https'
import { SpoutError } from '@spout/model'
import { BodyTooLong, bodyText, type Secret } from '@spout/runtime'
import { http } from '@spout/runtime/node-http'
import { type KeystoneToken, readToken } from './keystone-token.ts'

/** What Spout itself logs in with. It needs the role `service` or `admin`, because it asks about tokens of others. */
export type ServiceCredential =
  | {
      readonly user: string
      readonly userDomain: string
      readonly password: Secret<string>
      readonly project: string
      readonly projectDomain: string
    }
  | { readonly applicationCredentialId: string; readonly secret: Secret<string> }

export interface KeystoneClientOptions {
  /** Ends with `/v3`. */
  readonly url: string
  readonly credential: ServiceCredential
  /** PEM of the authorities that Keystone's certificate may be from; null: those of the system. */
  readonly ca: string | null
  /** For one request and its whole answer. */
  readonly timeoutMs: number
}

type Method = 'GET' | 'POST'

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A token without its catalog takes some kilobytes. */
const MOST_ANSWER_BYTES = 262_144
const MOST_SOCKETS = 16

const unavailable = (reason: string): SpoutError => new SpoutError('Unavailable', { what: 'Keystone', reason })

/** Keystone does not answer, or refuses Spout's own user. A question about another token would fail in the same way. */
export class KeystoneAway extends SpoutError {
  constructor(reason: string) {
    super('Unavailable', { what: 'Keystone', reason })
  }
}

/** The request met a kept connection that the other end had just closed. */
class StaleConnection extends Error {}

/** Asks Keystone whose a token is: API reference "Identity v3, authentication and token management". */
export class KeystoneClient {
  readonly #options: KeystoneClientOptions
  readonly #agent: Agent
  #token: Promise<string> | null = null

  constructor(options: KeystoneClientOptions) {
    this.#options = options
    const agent = { keepAlive: true, maxSockets: MOST_SOCKETS }
    this.#agent = options.url.startsWith('https:')
      ? new https.Agent({ ...agent, minVersion: 'TLSv1.2', ...(options.ca !== null && { ca: options.ca }) })
      : new http.Agent(agent)
  }

  /**
   * @returns null for a token that Keystone does not know, or does not accept any more
   * @throws SpoutError Unavailable when Keystone does not say
   */
  async validate(secret: string): Promise<KeystoneToken | null> {
    const own = this.#ownToken()
    let answer = await this.#ask(await own, secret)
    if (answer.status === 401) {
      // Our own token has ended. Another request may have noticed it before.
      if (this.#token === own) this.#token = null
      answer = await this.#ask(await this.#ownToken(), secret)
    }
    const { status, body } = answer
    if (status === 401 || status === 403)
      throw new KeystoneAway(
        `it refuses Spout's question about a token with ${status}: Spout's user there needs the role service`,
      )
    if (status === 429 || status > 500) throw new KeystoneAway(`it answered ${status}`)
    // Any other client error concerns this token alone.
    if (status >= 400 && status < 500) return null
    const token = status === 200 ? readToken(body) : null
    if (token === null) throw unavailable(`its answer, ${status}, does not say whose the token is`)
    return token
  }

  #ask(own: string, secret: string): Promise<Answer> {
    return this.#send('GET', { 'x-auth-token': own, 'x-subject-token': secret }, null)
  }

  close(): void {
    this.#agent.destroy()
  }

  /** Spout's own token; requests at the same time share one login. */
  #ownToken(): Promise<string> {
    if (this.#token !== null) return this.#token
    const token = this.#login()
    this.#token = token
    token.catch(() => {
      if (this.#token === token) this.#token = null
    })
    return token
  }

  async #login(): Promise<string> {
    const { status, headers } = await this.#send('POST', {}, JSON.stringify(loginBody(this.#options.credential)))
    const token = headers['x-subject-token']
    if (status === 201 && typeof token === 'string') return token
    throw new KeystoneAway(`it refuses the login of Spout's own user with ${status}`)
  }

  /** Sends a request, and sends it again when it met a stale connection. */
  async #send(method: Method, headers: Readonly<Record<string, string>>, body: string | null): Promise<Answer> {
    const signal = AbortSignal.timeout(this.#options.timeoutMs)
    for (;;)
      try {
        return await this.#sendOnce(method, headers, body, signal)
      } catch (error) {
        if (error instanceof StaleConnection) continue
        if (error instanceof SpoutError) throw error
        const { code, message } = error as NodeJS.ErrnoException
        const late = `it did not answer within ${this.#options.timeoutMs} ms`
        throw new KeystoneAway(signal.aborted ? late : (code ?? message))
      }
  }

  #sendOnce(
    method: Method,
    headers: Readonly<Record<string, string>>,
    body: string | null,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { url } = this.#options
    return new Promise((resolve, reject) => {
      const { request } = url.startsWith('https:') ? https : http
      const options = {
        ...{ method, agent: this.#agent, signal },
        headers: {
          accept: 'application/json',
          ...headers,
          ...(body !== null && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        },
      }
      const sent = request(new URL(`${url}/auth/tokens?nocatalog`), options, (answer) => {
        textOf(answer).then(
          (text) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }),
          reject,
        )
      })
      sent.on('error', (error) => reject(sent.reusedSocket && !signal.aborted ? new StaleConnection() : error))
      sent.end(body ?? undefined)
    })
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  try {
    return await bodyText(answer, { mostBytes: MOST_ANSWER_BYTES })
  } catch (error) {
    if (error instanceof BodyTooLong) throw unavailable(`its answer is longer than ${MOST_ANSWER_BYTES} bytes`)
    throw error
  }
}

/** The body of a login; an application credential has the project that it was made for. */
function loginBody(credential: ServiceCredential): object {
  if ('applicationCredentialId' in credential) {
    const { applicationCredentialId: id, secret } = credential
    const given = { id, secret: secret.reveal() }
    return { auth: { identity: { methods: ['application_credential'], application_credential: given } } }
  }
  const { user, userDomain, password, project, projectDomain } = credential
  const given = { name: user, domain: { name: userDomain }, password: password.reveal() }
  return {
    auth: {
      identity: { methods: ['password'], password: { user: given } },
      scope: { project: { name: project, domain: { name: projectDomain } } },
    },
  }
}
