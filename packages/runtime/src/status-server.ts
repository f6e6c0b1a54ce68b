import { createServer, type Server } from 'node:http'
import type { Component } from './lifecycle.ts'

export interface StatusServerOptions {
  /** Of the component, for the log. */
  readonly name: string
  readonly host: string
  /** 0 takes any that is free. */
  readonly port: number
  /** `Metrics` (`@spout/runtime/metrics`), which is not loaded from here. */
  readonly metrics: { readonly contentType: string; text(): Promise<string> }
  /** Null when ready, else why not. Left out: `/metrics` alone is served. */
  readonly readiness?: () => string | null
}

/**
 * What an operator asks a process. `/healthz`: it answers. `/readyz`: it knows what it must know. `/metrics`: the
 * Prometheus format. Anything else is 404.
 */
export class StatusServer implements Component {
  readonly name: string
  readonly #options: StatusServerOptions
  readonly #server: Server

  constructor(options: StatusServerOptions) {
    this.name = options.name
    this.#options = options
    this.#server = createServer((request, response) => {
      const send = (code: number, text: string, type = 'text/plain') =>
        response.writeHead(code, { 'content-type': type }).end(text)
      this.#answer(request.method === 'GET' ? (request.url ?? '') : '', send).catch(() => response.writeHead(500).end())
    })
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

  async #answer(path: string, send: (code: number, text: string, type?: string) => void): Promise<void> {
    const { metrics, readiness } = this.#options
    if (path === '/metrics') return send(200, await metrics.text(), metrics.contentType)
    if (readiness !== undefined && path === '/healthz') return send(200, 'ok\n')
    if (readiness === undefined || path !== '/readyz') return send(404, 'not found\n')
    const why = readiness()
    send(why === null ? 200 : 503, `${why ?? 'ok'}\n`)
  }
}
