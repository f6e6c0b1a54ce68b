import { http } from '@spout/runtime/node-http'
import type { FastifyInstance } from 'fastify'
import { codeOf, errorHeaders, errorOf, HTTP_STATUS, keystoneChallenge } from '../http/error-of.ts'

/** An error with Barbican's own words. */
export class KeyManagerFault extends Error {
  override readonly name = 'KeyManagerFault'
  readonly status: number

  constructor(status: number, description: string) {
    super(description)
    this.status = status
  }
}

/** Barbican's error for a body that does not fit the schema. @param schema such as `Secret` */
export const mismatch = (schema: string, property: string, reason: string): KeyManagerFault =>
  new KeyManagerFault(
    400,
    `Provided object does not match schema '${schema}': ${reason}. Invalid property: '${property}'`,
  )

const body = (status: number, description: string) => ({
  code: status,
  title: http.STATUS_CODES[status] ?? 'Error',
  description,
})

/** Answers errors in Barbican's format. */
export function answerLikeBarbican(scope: FastifyInstance): void {
  scope.setErrorHandler((error, request, reply) => {
    if (error instanceof KeyManagerFault) return reply.code(error.status).send(body(error.status, error.message))
    const known = errorOf(error, request)
    const status = codeOf(error) === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' ? 415 : HTTP_STATUS[known.kind]
    reply.headers(errorHeaders(known, status, keystoneChallenge(request)))
    return reply.code(status).send(body(status, status === 415 ? UNEXPECTED_TYPE : known.message))
  })
  scope.setNotFoundHandler((_request, reply) => reply.code(404).send(body(404, 'The resource could not be found.')))
}

const UNEXPECTED_TYPE = 'Unexpected content type.'
