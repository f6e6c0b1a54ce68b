import { once } from 'node:events'
import { chmod, chown, rm } from 'node:fs/promises'
import type { RequestListener, Server } from 'node:http'
import { systemClock } from '@spout/runtime'
import { http } from '@spout/runtime/node-http'

/** The figures of a listener's load balancer in the Prometheus text format; null for a listener that has none. */
export type MetricsOf = (listenerId: string) => Promise<string | null>

/** A text is made once in this time, however often it is asked for. */
const FRESH_MS = 1_000
/** Prometheus, exposition formats, text format. */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Answers the requests that a domain's proxy passes on, on a socket that only this proxy can reach. */
export class MetricsSocket {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  /**
   * @param path may be left from an agent that was killed
   * @param uid the user that the proxy runs as
   */
  static async listen(path: string, uid: number, metricsOf: MetricsOf): Promise<MetricsSocket> {
    await rm(path, { force: true })
    const server = http.createServer(answer(keptFor(FRESH_MS, metricsOf)))
    server.listen(path)
    await once(server, 'listening')
    await chmod(path, 0o600)
    await chown(path, uid, uid)
    return new MetricsSocket(server)
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

const answer =
  (metricsOf: MetricsOf): RequestListener =>
  async ({ url = '' }, response) => {
    try {
      const text = await metricsOf(url.slice(1))
      response.writeHead(text === null ? 404 : 200, { 'content-type': CONTENT_TYPE, 'cache-control': 'no-cache' })
      response.end(text ?? '')
    } catch {
      response.writeHead(503).end()
    }
  }

/** Gives the same answer again while it is younger than this. */
function keptFor(mostMs: number, metricsOf: MetricsOf): MetricsOf {
  const known = new Map<string, { readonly atMs: number; readonly text: Promise<string | null> }>()
  return (listenerId) => {
    const nowMs = systemClock.monotonicMs()
    for (const [id, { atMs }] of known) if (nowMs - atMs >= mostMs) known.delete(id)
    const text = known.get(listenerId)?.text ?? metricsOf(listenerId)
    if (!known.has(listenerId)) known.set(listenerId, { atMs: nowMs, text })
    return text
  }
}
