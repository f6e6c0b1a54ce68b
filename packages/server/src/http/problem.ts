import { SpoutError } from '@spout/model'
import { http } from '@spout/runtime/node-http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { errorHeaders, errorOf, HTTP_STATUS } from './error-of.ts'

/** RFC 9457, with what a program needs: the error's code, the field, and whether retrying can help. */
export const problemSchema = z.strictObject({
  type: z.literal('about:blank'),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
  code: z.string(),
  field: z.string().optional(),
  /** All fields that are wrong in the same way; `field` is the first of them. */
  fields: z.array(z.string()).optional(),
  retry: z.string(),
  /** The request's id. */
  instance: z.string(),
})
export type Problem = Readonly<z.output<typeof problemSchema>>

export function problemOf(error: SpoutError, requestId: string): Problem {
  const status = HTTP_STATUS[error.kind]
  return {
    type: 'about:blank',
    title: http.STATUS_CODES[status] ?? 'Error',
    status,
    detail: error.message,
    code: error.code,
    ...(error.field !== undefined && { field: error.field }),
    ...(error.fields.length > 1 && { fields: [...error.fields] }),
    retry: error.retry,
    instance: requestId,
  }
}

/** The problem document for one of several objects of a request. */
export const problemIn = (request: FastifyRequest, error: unknown): Problem =>
  problemOf(errorOf(error, request), request.id)

/** Answers every error of a scope with a problem document. */
export function answerWithProblems(scope: FastifyInstance): void {
  scope.setErrorHandler((error, request, reply) => {
    const known = errorOf(error, request)
    const problem = problemOf(known, request.id)
    reply.headers(errorHeaders(known, problem.status, 'Bearer'))
    return reply.code(problem.status).type('application/problem+json').send(problem)
  })
  scope.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const problem = problemOf(new SpoutError('NotFound', { what: 'Path', id: path }), request.id)
    return reply.code(404).type('application/problem+json').send(problem)
  })
}
