import * as http from 'node:http'
import * as https from 'node:https'
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

/** Dead peers are noticed in about half a minute also where nothing is sent: Node.js probes 10 times, a second apart. */
const KEEP_ALIVE_AFTER_MS = 15_000

/** As many as ask at the same time: one that is closed costs the next a handshake. */
const MOST_FREE_SOCKETS = 64

/** Requests over kept-alive connections with the access's credentials. One attempt each; what it means is not its business. */
export class Connection {
  readonly #access: ClusterAccess
  readonly #userAgent: string
  readonly #agent: http.Agent
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

  /** Whether another token may be had after a 401. */
  forgetToken(): boolean {
    this.#token.forget()
    return this.#access.token?.type === 'file'
  }

  /**
   * Resolves with the answer's head; its body is still to be read.
   *
   * @throws KubeUnreachable
   */
  async send({ method, path, body, contentType, signal }: RawRequest): Promise<http.IncomingMessage> {
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

/** What stopped a request, in our words; an abort's reason is ours already. */
export function unreachable(what: string, error: unknown, signal: AbortSignal): KubeUnreachable {
  if (error instanceof KubeUnreachable) return error
  if (signal.aborted)
    return signal.reason instanceof KubeUnreachable ? signal.reason : new KubeUnreachable(what, 'aborted', '')
  const { code, message } = error as NodeJS.ErrnoException
  return new KubeUnreachable(what, 'connection', code ?? message)
}
