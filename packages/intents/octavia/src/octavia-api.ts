import { SpoutError } from '@spout/model'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { GivenContext } from './access/context.ts'
import { faultOf } from './conversion/fault-of.ts'
import { allowedMethods } from './routes/allowed-methods.ts'
import { LBAAS_ROUTES, OCTAVIA_ROUTES } from './routes/every-route.ts'
import { knownReads } from './routes/known-reads.ts'
import { baseUrl, OCTAVIA_MOUNTS, register } from './routes/route.ts'
import { versionDocument } from './routes/versions.ts'
import { lockingAdmission } from './snapshots/locking.ts'
import { KnownPools } from './snapshots/operating-status.ts'
import { settleWithin, settlingAdmission } from './snapshots/settling.ts'
import { admitsJson } from './wire/accepts.ts'
import { faultBody, invalidJson, OctaviaFault } from './wire/fault.ts'
import { KnownLists } from './write-back/known-lists.ts'
import { KnownLoadBalancers } from './write-back/known-load-balancers.ts'

/**
 * The Octavia v2 API. Mounted at `/load-balancer`; its errors, limits and hooks do not affect other routes. The server
 * parses JSON and gives each reply its request id.
 */
export const octaviaApi: FastifyPluginAsync<GivenContext> = async (app, given) => {
  const admission = given.options.strictLocking === true ? lockingAdmission(given.admission, given) : given.admission
  const context = {
    ...given,
    offers: given.admission,
    nodeGroups: given.admission,
    admission: settlingAdmission(admission, settleWithin(given.status, given.options.settleMs)),
  }
  app.addHook('onRequest', (request, _reply, done) => {
    if (admitsJson(request.headers.accept)) done()
    else done(new OctaviaFault(406, 'Only content type application/json is accepted.'))
  })
  app.setNotFoundHandler((request, reply) => refuseRoute(request, reply, app.prefix))
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof SpoutError) context.noteError?.(request, error)
    // With a body it is refused before the handler, which would not read it.
    if (request.is404 && error instanceof SpoutError && error.code === 'NotFound')
      return refuseRoute(request, reply, app.prefix)
    const fault = faultFor(error, request)
    if (fault.status === 401)
      void reply.header(
        'www-authenticate',
        `Keystone uri="${baseUrl(context, request)}${context.options.identityPath}"`,
      )
    if (error instanceof SpoutError && error.kind === 'throttled')
      void reply.header('retry-after', String(error.params['seconds'] ?? 1))
    return reply.code(fault.status).send(faultBody(fault))
  })

  app.get('/', async (request) => versionDocument(baseUrl(context, request) + app.prefix))
  for (const version of ['/v2', '/v2.0', '/v2/lbaas', '/v2.0/lbaas', '/v2/octavia', '/v2.0/octavia'])
    app.get(version, async (request, reply) => {
      await context.authenticate(request)
      // Made a JSON text here, because fastify would send a bare string as it is.
      return reply.type('application/json').send('"v2"')
    })
  const known = { pools: new KnownPools(), loadBalancers: new KnownLoadBalancers(), lists: new KnownLists() }
  given.onReads?.(knownReads(context, known, app.prefix))
  register(app, context, known, LBAAS_ROUTES)
  register(app, context, known, OCTAVIA_ROUTES, OCTAVIA_MOUNTS)
}

/** The answer to a path that is none, or that does not take the method. */
function refuseRoute({ url }: FastifyRequest, reply: FastifyReply, prefix: string): FastifyReply {
  const allowed = allowedMethods((url.split('?', 1)[0] ?? '').slice(prefix.length))
  const fault = allowed.length === 0 ? new OctaviaFault(404, 'Not Found') : new OctaviaFault(405, 'Method Not Allowed')
  if (allowed.length > 0) void reply.header('allow', allowed.join(', '))
  return reply.code(fault.status).send(faultBody(fault))
}

function faultFor(error: unknown, request: FastifyRequest): OctaviaFault {
  if (error instanceof OctaviaFault) return error
  if (error instanceof SpoutError) {
    if (error.kind === 'internal' || error.kind === 'unavailable' || error.kind === 'unknown')
      request.log.warn({ event: 'request-failed', requestId: request.id, err: error }, 'request failed')
    return faultOf(error)
  }
  switch (codeOf(error)) {
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalidJson()
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return faultOf(new SpoutError('BodyTooLarge', { limitBytes: request.routeOptions.bodyLimit ?? 0 }))
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new OctaviaFault(415, `Unknown mimetype: ${request.headers['content-type'] ?? ''}`)
  }
  request.log.error({ event: 'request-threw', requestId: request.id, err: error, bug: true }, 'unexpected error')
  return faultOf(new SpoutError('Internal', { reference: request.id }))
}

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
