import { http } from '@spout/runtime/node-http'
import type { FastifyInstance } from 'fastify'
import { errorHeaders, errorOf, HTTP_STATUS, keystoneChallenge } from '../http/error-of.ts'

const body = (code: number, message: string) => ({
  error: { code, message, title: http.STATUS_CODES[code] ?? 'Error' },
})

/** Answers errors in Keystone's format. */
export function answerLikeKeystone(scope: FastifyInstance): void {
  scope.setErrorHandler((error, request, reply) => {
    const known = errorOf(error, request)
    const status = HTTP_STATUS[known.kind]
    reply.headers(errorHeaders(known, status, keystoneChallenge(request)))
    return reply.code(status).send(body(status, known.message))
  })
  scope.setNotFoundHandler((_request, reply) => reply.code(404).send(body(404, 'The resource could not be found.')))
}
