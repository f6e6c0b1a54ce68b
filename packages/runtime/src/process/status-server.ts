import { createHash, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Component } from './lifecycle.ts'
import { http } from './node-http.ts'

export interface StatusServerOptions {
  /** Name of the component, for the log. */
  readonly name: string
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /**
   * File with the token (at least 16 characters) that protects metrics and reasons. It is read at each such request, so
   * it may appear after the start, and change. An empty path asks for no token, which is for loopback only.
   */
  readonly tokenFile: string
  /** `Metrics` of `@spout/runtime/metrics`, which this module does not load. */
  readonly metrics: { readonly contentType: string; text(): Promise<string> }
  /** Null when ready, else the reason. Without it only `/metrics` is served. */
  readonly readiness?: () => Promise<string | null> | string | null
  /** What a ready process is, for people; empty: nothing to say. Default: empty. */
  readonly role?: () => string
  /** How long a client may take to send its request, and may be idle. */
  readonly clientTimeoutMs?: number
}

/**
 * Limits of open connections, in total and per address. More are closed at once. A probe and a few Prometheus servers
 * need some ten.
 */
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
 * Serves what operators ask a process. `/healthz`: it is alive. `/readyz`: it is ready. `/metrics`: the Prometheus
 * format. Anything else is 404.
 *
 * With a token file, `/metrics` answers 401 without the token (`Authorization: Bearer`, RFC 6750), and 503 while the
 * file is empty. `/healthz` and `/readyz` stay open, because a kubelet's probes carry no token, but then give no
 * reason.
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
    this.#server = http.createServer(limits, (request, response) => {
      const send = ({ code, text, type = 'text/plain' }: Answer) =>
        response
          .writeHead(code, { 'content-type': type, ...(code === 401 && { 'www-authenticate': 'Bearer' }) })
          .end(text)
      this.#answer(request)
        .then(send)
        .catch(() => response.writeHead(500).end())
    })
    this.#server.maxConnections = CONNECTIONS_LIMIT
    // This also ends connections of clients that do not read their answer.
    this.#server.timeout = 2 * clientTimeoutMs
    this.#server.on('connection', (socket: Socket) => this.#count(socket))
  }

  /** The port it listens on. */
  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : this.#options.port
  }

  /** @throws Error when the address cannot be bound: an operator who configured metrics must notice */
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
    const { metrics, readiness, role } = this.#options
    const path = request.method === 'GET' ? request.url : undefined
    if (path === '/metrics') {
      const refused = await this.#refusal(request)
      return refused ?? { code: 200, text: await metrics.text(), type: metrics.contentType }
    }
    if (readiness !== undefined && path === '/healthz') return { code: 200, text: 'ok\n' }
    if (readiness === undefined || path !== '/readyz') return { code: 404, text: 'not found\n' }
    const why = await readiness()
    if (why === null) {
      const told = role?.() ?? ''
      const isOpen = told !== '' && (await this.#refusal(request)) === null
      return { code: 200, text: isOpen ? `ok: ${told}\n` : 'ok\n' }
    }
    const refused = await this.#refusal(request)
    return { code: 503, text: refused === null ? `${why}\n` : 'not ready\n' }
  }

  /** Null when the client may read metrics and reasons. */
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
    return timingSafeEqual(digest(given), digest(token)) ? null : { code: 401, text: 'the token is wrong\n' }
  }
}

/** Hashed, because a comparison in constant time needs equal lengths. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
