import { createServer, type Server } from 'node:http'
import type { Component } from '@spout/runtime'
import type { Metrics } from '@spout/runtime/metrics'

export interface StatusServerOptions {
  readonly host: string
  readonly port: number
  readonly metrics: Metrics
  /** Null when ready, else why not. */
  readonly readiness: () => string | null
}

/** `/healthz`: the process answers. `/readyz`: it knows what it must know. `/metrics`: the Prometheus format. */
export class StatusServer implements Component {
  readonly name = 'http'
  readonly #options: StatusServerOptions
  readonly #server: Server

  constructor(options: StatusServerOptions) {
    this.#options = options
    this.#server = createServer((request, response) => {
      const send = (code: number, text: string, type = 'text/plain') =>
        response.writeHead(code, { 'content-type': type }).end(text)
      this.#answer(request.method === 'GET' ? (request.url ?? '') : '', send).catch(() => response.writeHead(500).end())
    })
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : this.#options.port
  }

  /** @throws Error when the address cannot be bound */
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
    if (path === '/healthz') return send(200, 'ok\n')
    if (path === '/metrics') return send(200, await metrics.text(), metrics.contentType)
    if (path !== '/readyz') return send(404, 'not found\n')
    const why = readiness()
    send(why === null ? 200 : 503, `${why ?? 'ok'}\n`)
  }
}
