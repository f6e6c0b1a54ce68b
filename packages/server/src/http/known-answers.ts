import type { IncomingMessage, Server } from 'node:http'
import { aheadOfHandlers } from './ahead-of-handlers.ts'

/** The answer to a read whose text is at hand. */
export interface KnownAnswer {
  /** The route's pattern, as its handler's answers are counted by it. */
  readonly route: string
  /** JSON. */
  readonly body: string
}

/**
 * Finds what a request's handler would answer. It has decided by then that the request may start and that its caller may
 * read the object. Null leaves the request to its route, with whatever is to be said about it.
 */
export type FindKnown = (request: IncomingMessage) => KnownAnswer | null

export interface KnownAnswersOptions {
  readonly find: FindKnown
  /** The headers of every answer. */
  readonly headers: Readonly<Record<string, string>>
  readonly newId: () => string
  /** Called when the answer was sent. */
  readonly onAnswer: (answer: KnownAnswer, requestId: string, durationMs: number) => void
}

/**
 * Answers reads whose text is at hand ahead of the routes: clients ask for the same object again and again, and hooks
 * and routing take several times as long as its answer.
 */
export function answerKnown(server: Server, { find, headers, newId, onAnswer }: KnownAnswersOptions): void {
  aheadOfHandlers(server, (request, response, handle) => {
    const startedMs = performance.now()
    const known = find(request)
    if (known === null) return handle()
    const requestId = newId()
    response.on('finish', () => onAnswer(known, requestId, performance.now() - startedMs))
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'x-openstack-request-id': requestId,
      ...headers,
      'content-length': Buffer.byteLength(known.body),
    })
    response.end(known.body)
  })
}
