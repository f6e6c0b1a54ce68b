import type { SpoutError } from '@spout/model'
import type { FastifyInstance } from 'fastify'
import { errorHeaders, errorOf, HTTP_STATUS, keystoneChallenge } from '../http/error-of.ts'

/** Neutron's type where clients may look at it; else our own code. */
function typeOf(error: SpoutError): string {
  if (error.code === 'NotFound') return `${String(error.params.what).replaceAll(/\W/g, '')}NotFound`
  if (error.code === 'AddressPoolExhausted') return 'IpAddressGenerationFailure'
  if (error.code === 'AddressTaken') return 'IpAddressInUse'
  if (error.code === 'InUse') return `${String(error.params.what).replaceAll(/\W/g, '')}InUse`
  if (error.kind === 'overQuota') return 'OverQuota'
  if (error.kind === 'throttled') return 'TooManyRequests'
  if (error.kind === 'unauthenticated') return 'Unauthorized'
  if (error.kind === 'forbidden') return 'PolicyNotAuthorized'
  return error.kind === 'invalid' || error.kind === 'unsupported' ? 'HTTPBadRequest' : error.code
}

const body = (type: string, message: string) => ({ NeutronError: { type, message, detail: '' } })

/** Answers errors in Neutron's format. There a quota error is a 409. */
export function answerLikeNeutron(scope: FastifyInstance): void {
  scope.setErrorHandler((error, request, reply) => {
    const known = errorOf(error, request)
    const status = known.kind === 'overQuota' ? 409 : HTTP_STATUS[known.kind]
    reply.headers(errorHeaders(known, status, keystoneChallenge(request)))
    return reply.code(status).send(body(typeOf(known), known.message))
  })
  scope.setNotFoundHandler((_request, reply) =>
    reply.code(404).send(body('HTTPNotFound', 'The resource could not be found.')),
  )
}
