import { STATUS_CODES } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { errorOf, HTTP_STATUS, retryAfterOf } from '../http/error-of.ts'

const body = (code: number, message: string) => ({ error: { code, message, title: STATUS_CODES[code] ?? 'Error' } })

/** Answers errors in Keystone's format. */
export function answerLikeKeystone(scope: FastifyInstance): void {
  scope.setErrorHandler((error, request, reply) => {
    const known = errorOf(error, request)
    const status = HTTP_STATUS[known.kind]
    if (status === 401) reply.header('www-authenticate', `Keystone uri="${request.protocol}://${request.host}"`)
    const retryAfter = retryAfterOf(known)
    if (retryAfter !== null) reply.header('retry-after', retryAfter)
    return reply.code(status).send(body(status, known.message))
  })
  scope.setNotFoundHandler((_request, reply) => reply.code(404).send(body(404, 'The resource could not be found.')))
}
