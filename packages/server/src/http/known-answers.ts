import type { IncomingMessage, Server } from 'node:http'
import { aheadOfHandlers } from './ahead-of-handlers.ts'

/** The answer to a read whose text is at hand. */
export interface KnownAnswer {
  /** The route's pattern, by which metrics count answers. */
  readonly route: string
  /** JSON. */
  readonly body: string
}

/**
 * Finds the answer that a request's route would give. What is found may be sent: the request may start now, and its
 * caller may read the object. Null: the request goes to its route, which also says why it is refused.
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
