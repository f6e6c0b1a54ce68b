import type { Agent, IncomingMessage } from 'node:http'
import * as https from 'node:https'
import { http } from '@spout/runtime/node-http'
import { BearerToken } from '../access/bearer-token.ts'
import type { ClusterAccess } from '../access/cluster-access.ts'
import { KubeUnreachable } from './errors.ts'

export interface RawRequest {
  readonly method: string
  /** Path and query below the server's URL. */
  readonly path: string
  readonly body: Buffer | null
  readonly contentType: string
  readonly signal: AbortSignal
}

/**
 * With this, a dead peer is noticed within half a minute even without traffic: Node.js probes 10 times, a second apart.
 */
const KEEP_ALIVE_AFTER_MS = 15_000

/** Idle connections that are kept: one for each concurrent caller, because a new connection costs a TLS handshake. */
const MOST_FREE_SOCKETS = 64

/**
 * Sends requests with our credentials over kept-alive connections. It makes one attempt; callers interpret the answer.
 */
export class Connection {
  readonly #access: ClusterAccess
  readonly #userAgent: string
  readonly #agent: Agent
  readonly #token: BearerToken

  constructor(access: ClusterAccess, userAgent: string) {
    this.#access = access
    this.#userAgent = userAgent
    this.#token = new BearerToken(access.token)
    const options: https.AgentOptions = {
      keepAlive: true,
      keepAliveMsecs: KEEP_ALIVE_AFTER_MS,
      maxFreeSockets: MOST_FREE_SOCKETS,
      minVersion: 'TLSv1.2',
      rejectUnauthorized: !access.skipTlsVerify,
      ...(access.ca === null ? {} : { ca: access.ca }),
      ...(access.tlsServerName === null ? {} : { servername: access.tlsServerName }),
      ...(access.clientCertificate === null
        ? {}
        : { cert: access.clientCertificate.certificate, key: access.clientCertificate.key.reveal() }),
    }
    this.#agent = access.server.protocol === 'https:' ? new https.Agent(options) : new http.Agent(options)
  }

  /** Forgets the token, after a 401. @returns whether another one may be available */
  forgetToken(): boolean {
    this.#token.forget()
    return this.#access.token?.type === 'file'
  }

  /**
   * Sends a request. Resolves once the head of the answer has arrived; the caller reads the body.
   *
   * @throws KubeUnreachable
   */
  async send({ method, path, body, contentType, signal }: RawRequest): Promise<IncomingMessage> {
    const what = `${method} ${path}`
    const token = await this.#token.current()
    const base = this.#access.server.pathname.replace(/\/$/, '')
    const options: https.RequestOptions = {
      method,
      agent: this.#agent,
      signal,
      headers: {
        accept: 'application/json',
        'user-agent': this.#userAgent,
        ...(token === null ? {} : { authorization: `Bearer ${token.reveal()}` }),
        ...(body === null ? {} : { 'content-type': contentType, 'content-length': body.length }),
      },
    }
    return new Promise((resolve, reject) => {
      const protocol = this.#access.server.protocol === 'https:' ? https : http
      const request = protocol.request(new URL(base + path, this.#access.server), options, resolve)
      request.on('error', (error) => reject(unreachable(what, error, signal)))
      request.end(body ?? undefined)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Turns the error of a request into a KubeUnreachable. If the request was aborted with one, that is returned. */
export function unreachable(what: string, error: unknown, signal: AbortSignal): KubeUnreachable {
  if (error instanceof KubeUnreachable) return error
  if (signal.aborted)
    return signal.reason instanceof KubeUnreachable ? signal.reason : new KubeUnreachable(what, 'aborted', '')
  const { code, message } = error as NodeJS.ErrnoException
  return new KubeUnreachable(what, 'connection', code ?? message)
}
