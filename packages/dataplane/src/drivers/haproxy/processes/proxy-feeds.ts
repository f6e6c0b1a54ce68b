import { ProxyLost } from '../commands/stats-socket.ts'
import { answersMetrics, type RenderedEntry, tellsRequests } from '../rendering/render.ts'
import { MetricsSocket } from '../requests/metrics-socket.ts'
import { ToldRequests } from '../requests/told-requests.ts'
import type { CurrentProxy } from './current-proxy.ts'
import type { DomainProxyOptions } from './domain-proxy-options.ts'

/**
 * The ways from a proxy's processes to the agent: a socket, on which they ask for figures, and a pipe, to which they
 * write a line for each request. Each exists while a listener needs it.
 */
export class ProxyFeeds {
  readonly #given: DomainProxyOptions
  readonly #current: CurrentProxy
  #metrics: MetricsSocket | null = null
  #told: ToldRequests | null = null

  constructor(given: DomainProxyOptions, current: CurrentProxy) {
    this.#given = given
    this.#current = current
  }

  /** Opens and closes them. @param put the entries that were just applied */
  async follow(put: readonly RenderedEntry[]): Promise<void> {
    await this.#followMetrics(put)
    await this.#followRequests(put)
  }

  /** Counts the lines that the process dropped. */
  async countDropped(): Promise<void> {
    const { running: proxy } = this.#current
    if (this.#told === null || proxy === null) return
    try {
      const counted = await proxy.connections()
      if (counted !== null) this.#told.dropped(proxy.generation, counted.droppedLines)
    } catch (error) {
      if (!(error instanceof ProxyLost)) throw error
    }
  }

  close(): void {
    this.#metrics?.close()
    this.#metrics = null
    this.#told?.close()
    this.#told = null
  }

  /** Opens the socket for figures while a listener answers with them. Without it such a listener answers 503. */
  async #followMetrics(put: readonly RenderedEntry[]): Promise<void> {
    const { metricsOf, uid, log, place } = this.#given
    const { assignments, launcher } = this.#current
    if (this.#metrics !== null) {
      if (assignments.hasMetrics) return
      this.#metrics.close()
      this.#metrics = null
    } else if (metricsOf !== undefined && put.some(answersMetrics))
      try {
        this.#metrics = await MetricsSocket.listen(launcher.metricsSocket, uid, async (listenerId) =>
          assignments.frontendOf(listenerId) === undefined ? null : metricsOf(listenerId),
        )
      } catch (error) {
        log.warn({ proxy: place.name, error: String(error) }, 'requests for figures cannot be answered')
      }
  }

  /**
   * Reads the log lines of the processes while a listener wants them. Never waits: lines that have no room are dropped.
   */
  async #followRequests(put: readonly RenderedEntry[]): Promise<void> {
    const { onRequest, countLines: count, clock, options, log, place } = this.#given
    const { assignments, launcher } = this.#current
    if (this.#told !== null) {
      if (assignments.hasLines) return
      this.#told.close()
      this.#told = null
    } else if (onRequest !== undefined && put.some(tellsRequests))
      try {
        this.#told = await ToldRequests.listen(launcher.lines, {
          linesPerSecond: options.linesPerSecond,
          clock,
          onRequest,
          count,
          poolOf: (slot) => poolOfOwner(assignments.slots.backends.ownerOf(slot)),
        })
        await this.countDropped()
      } catch (error) {
        log.warn({ proxy: place.name, error: String(error) }, 'requests cannot be logged or timed')
      }
  }
}

/** `NodePool.number` of `RenderedBackend.owner`. */
const poolOfOwner = (owner: string | null): number | null => {
  const number = /^p([0-9]+)\//.exec(owner ?? '')?.[1]
  return number === undefined ? null : Number(number)
}
