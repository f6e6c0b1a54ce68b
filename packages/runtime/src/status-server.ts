import { createHash, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Component } from './lifecycle.ts'

export interface StatusServerOptions {
  /** Of the component, for the log. */
  readonly name: string
  readonly host: string
  /** 0 takes any that is free. */
  readonly port: number
  /**
   * File with the token (16 characters at least) that figures and reasons are given for. It is read again at each such
   * request: it may come after the start, and change. Empty asks for no token, which is for loopback alone.
   */
  readonly tokenFile: string
  /** `Metrics` (`@spout/runtime/metrics`), which is not loaded from here. */
  readonly metrics: { readonly contentType: string; text(): Promise<string> }
  /** Null when ready, else why not. Left out: `/metrics` alone is served. */
  readonly readiness?: () => Promise<string | null> | string | null
  /** How long a client may take for its request, and stay idle. */
  readonly clientTimeoutMs?: number
}

/** Of all, and of one address: more are closed as they come. A probe and a few Prometheus servers need some ten. */
const CONNECTIONS_LIMIT = 128
const CONNECTIONS_OF_ADDRESS_LIMIT = 16
const TOKEN_LENGTH_MIN = 16
const CLIENT_TIMEOUT_MS = 5_000
const LOOK_FOR_SLOW_MS = 1_000

interface Answer {
  readonly code: number
  readonly text: string
  readonly type?: string
}

/**
 * What an operator asks a process. `/healthz`: it answers. `/readyz`: it knows what it must know. `/metrics`: the
 * Prometheus format. Anything else is 404.
 *
 * With a token file, `/metrics` answers 401 without the token (`Authorization: Bearer`, RFC 6750), and 503 while the
 * file holds none. `/healthz` and `/readyz` stay open, because a kubelet's probes bear no token, but say no reason.
 */
export class StatusServer implements Component {
  readonly name: string
  readonly #options: StatusServerOptions
  readonly #server: Server
  readonly #connectionsOf = new Map<string, number>()

  constructor(options: StatusServerOptions) {
    this.name = options.name
    this.#options = options
    const { clientTimeoutMs = CLIENT_TIMEOUT_MS } = options
    const limits = {
      requestTimeout: clientTimeoutMs,
      headersTimeout: clientTimeoutMs,
      keepAliveTimeout: clientTimeoutMs,
      connectionsCheckingInterval: Math.min(clientTimeoutMs, LOOK_FOR_SLOW_MS),
    }
    this.#server = createServer(limits, (request, response) => {
      const send = ({ code, text, type = 'text/plain' }: Answer) =>
        response
          .writeHead(code, { 'content-type': type, ...(code === 401 && { 'www-authenticate': 'Bearer' }) })
          .end(text)
      this.#answer(request)
        .then(send)
        .catch(() => response.writeHead(500).end())
    })
    this.#server.maxConnections = CONNECTIONS_LIMIT
    // A client that does not read its answer sends nothing either.
    this.#server.timeout = 2 * clientTimeoutMs
    this.#server.on('connection', (socket: Socket) => this.#count(socket))
  }

  /** The port it listens on. */
  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : this.#options.port
  }

  /** @throws Error when the address cannot be bound: an operator who asked for figures must not miss them unknowingly */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.#options.port, this.#options.host, () => {
        this.#server.off('error', reject)
        resolve()
      })
    })
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }

  #count(socket: Socket): void {
    const from = socket.remoteAddress ?? ''
    const count = (this.#connectionsOf.get(from) ?? 0) + 1
    if (count > CONNECTIONS_OF_ADDRESS_LIMIT) {
      socket.destroy()
      return
    }
    this.#connectionsOf.set(from, count)
    socket.once('close', () => {
      const left = (this.#connectionsOf.get(from) ?? 1) - 1
      if (left > 0) this.#connectionsOf.set(from, left)
      else this.#connectionsOf.delete(from)
    })
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const { metrics, readiness } = this.#options
    const path = request.method === 'GET' ? request.url : undefined
    if (path === '/metrics') {
      const refused = await this.#refusal(request)
      return refused ?? { code: 200, text: await metrics.text(), type: metrics.contentType }
    }
    if (readiness !== undefined && path === '/healthz') return { code: 200, text: 'ok\n' }
    if (readiness === undefined || path !== '/readyz') return { code: 404, text: 'not found\n' }
    const why = await readiness()
    if (why === null) return { code: 200, text: 'ok\n' }
    const refused = await this.#refusal(request)
    return { code: 503, text: refused === null ? `${why}\n` : 'not ready\n' }
  }

  /** Null when who asks may have figures and reasons. */
  async #refusal({ headers }: IncomingMessage): Promise<Answer | null> {
    const { tokenFile } = this.#options
    if (tokenFile === '') return null
    const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
    if (given === undefined) return { code: 401, text: 'a token is needed: Authorization: Bearer TOKEN\n' }
    const token = await readFile(tokenFile, 'utf8').then(
      (text) => text.trim(),
      () => '',
    )
    if (token.length < TOKEN_LENGTH_MIN)
      return { code: 503, text: `tokenFile: cannot be read, or holds less than ${TOKEN_LENGTH_MIN} characters\n` }
    return timingSafeEqual(digest(given), digest(token)) ? null : { code: 401, text: 'the token is another one\n' }
  }
}

/** Of one length, as a comparison in constant time needs. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
