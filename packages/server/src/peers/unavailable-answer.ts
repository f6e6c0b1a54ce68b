import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { ATTEMPT_HEADER, type Attempt, SpoutError } from '@spout/model'
import { problemOf } from '../http/problem.ts'

/**
 * Answers 503, or 502 if the request may have been carried out. Cuts an answer off that has begun.
 *
 * A 503 may also come from whoever is between, or from a store that does not know what it has stored. So a header says
 * that nothing was begun: then clients ask another control plane, also for a change.
 */
export function answerUnavailable(response: ServerResponse, reason: string, attempt: Attempt = 'not-begun'): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const requestId = `req-${randomUUID()}`
  const error = new SpoutError('Unavailable', { what: 'The control plane', reason })
  const unknown = { status: 502, title: 'Bad Gateway' }
  const problem = { ...problemOf(error, requestId), ...(attempt === 'unknown' && unknown) }
  const body = JSON.stringify(problem)
  response.writeHead(problem.status, {
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'retry-after': '1',
    ...(attempt === 'not-begun' && { [ATTEMPT_HEADER]: attempt }),
    'x-openstack-request-id': requestId,
  })
  response.end(body)
}
