import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'

/**
 * Orders requests as they arrive, when only their headers were parsed. In one round of the event loop each line starts
 * one, the shortest line first. So a request waits for the headers of its neighbours' requests at most, not for all
 * that they sent at once: routing and authentication of 32 requests take milliseconds.
 */
export class ArrivalTurns {
  readonly #lines = new Map<string, (() => void)[]>()
  #isScheduled = false

  /** Calls `start` in its turn, in this round of the event loop at the earliest. */
  begin(line: string, start: () => void): void {
    const waiting = this.#lines.get(line)
    if (waiting === undefined) this.#lines.set(line, [start])
    else waiting.push(start)
    if (!this.#isScheduled) this.#schedule()
  }

  #schedule(): void {
    this.#isScheduled = true
    setImmediate(() => this.#round())
  }

  #round(): void {
    const lines = [...this.#lines].sort(([, one], [, other]) => one.length - other.length)
    const starting = lines.flatMap(([line, waiting]) => {
      if (waiting.length === 1) this.#lines.delete(line)
      return waiting.splice(0, 1)
    })
    this.#isScheduled = false
    if (this.#lines.size > 0) this.#schedule()
    for (const start of starting) start()
  }
}

/**
 * Lets requests of a server wait for their turns before its handlers see them. Call it when the handlers were added.
 * @param lineOf the line of a request, by its headers and connection
 */
export function orderArrivals(server: Server, lineOf: (request: IncomingMessage) => string): void {
  const turns = new ArrivalTurns()
  const handlers = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    turns.begin(lineOf(request), () => {
      // Nobody waits for the answer any more, and nothing was done yet.
      if (!response.destroyed) for (const handle of handlers) handle.call(server, request, response)
    })
  })
}
