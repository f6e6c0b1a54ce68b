import { STATUS_CODES } from 'node:http'
import { SpoutError } from '@spout/model'
import type { FastifyInstance } from 'fastify'
import { errorOf, HTTP_STATUS } from '../http/error-of.ts'

/** RFC 9457, with what a machine needs to act: which error of the table, which field, whether trying again can help. */
export interface Problem {
  readonly type: 'about:blank'
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly field?: string
  readonly retry: string
  /** The request's id. */
  readonly instance: string
}

export function problemOf(error: SpoutError, requestId: string): Problem {
  const status = HTTP_STATUS[error.kind]
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: error.message,
    code: error.code,
    ...(error.field !== undefined && { field: error.field }),
    retry: error.retry,
    instance: requestId,
  }
}

/** Answers every error of a scope with a problem document. */
export function answerWithProblems(scope: FastifyInstance): void {
  scope.setErrorHandler((error, request, reply) => {
    const problem = problemOf(errorOf(error, request), request.id)
    if (problem.status === 401) reply.header('www-authenticate', 'Bearer')
    if (problem.status === 503) reply.header('retry-after', '1')
    return reply.code(problem.status).type('application/problem+json').send(problem)
  })
  scope.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const problem = problemOf(new SpoutError('NotFound', { what: 'Path', id: path }), request.id)
    return reply.code(404).type('application/problem+json').send(problem)
  })
}
