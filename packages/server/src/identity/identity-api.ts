import type { FastifyInstance } from 'fastify'
import { requireRole } from '../authn/access.ts'
import { sessionOf } from '../authn/authenticate.ts'
import { refuseBalancer } from '../authn/balancer.ts'
import { OPENSTACK_BODY_LIMIT_BYTES, type Surface } from '../http/host.ts'
import { sendListsInPieces } from '../http/list-answer.ts'
import { shareOf } from '../turns/share-of.ts'
import { applicationCredentialRoutes } from './application-credentials.ts'
import { authRoutes } from './auth-routes.ts'
import { endpointsOf, serviceId } from './catalog.ts'
import type { IdentityContext } from './context.ts'
import { answerLikeKeystone } from './errors.ts'
import { grantRoutes } from './grant-routes.ts'
import { listBody, notFound } from './list-body.ts'
import { projectRoutes } from './projects.ts'
import { DOMAIN } from './role-names.ts'
import { roleRoutes } from './role-routes.ts'
import { userRoutes } from './users.ts'
import { versionRoutes } from './versions.ts'

/** Patterns that need no token, or check it themselves. */
const OPEN = ['', '/v3', '/v3/auth/tokens'] as const
/** The paths that a token with only role `balancer` may call: login, and discovery of the services. */
const FOR_ALL: ReadonlySet<string> = new Set(['', '/', '/v3', '/v3/', '/v3/auth/tokens', '/v3/auth/catalog'])

/** A Keystone v3 facade over our users and projects, as far as unmodified clients need it. */
export const identityApi = (context: IdentityContext): Surface => ({
  prefix: '/identity',
  bodyLimitBytes: OPENSTACK_BODY_LIMIT_BYTES,
  open: OPEN,
  plugin: async (scope) => {
    answerLikeKeystone(scope)
    sendListsInPieces(scope, context.turns, (request) => shareOf(sessionOf(context.authenticator, request).principal))
    scope.addHook('preHandler', async (request) => {
      const { url } = request.routeOptions
      if (url === undefined || FOR_ALL.has(url.replace(/^\/identity/, ''))) return
      refuseBalancer(sessionOf(context.authenticator, request).principal)
    })
    versionRoutes(scope, context.baseUrl)
    authRoutes(scope, context)
    projectRoutes(scope, context)
    userRoutes(scope, context)
    roleRoutes(scope, context)
    grantRoutes(scope, context)
    applicationCredentialRoutes(scope, context)
    fixedRoutes(scope, context)
  },
})

/** Resources of which there is one, or none. */
function fixedRoutes(scope: FastifyInstance, context: IdentityContext): void {
  const { authenticator } = context
  const domain = { ...DOMAIN, description: '', enabled: true, options: {}, tags: [] }

  scope.get('/v3/domains', async (request) => {
    sessionOf(authenticator, request)
    return listBody(context, request, 'domains', [domain])
  })
  scope.get<{ Params: { id: string } }>('/v3/domains/:id', async (request) => {
    sessionOf(authenticator, request)
    if (request.params.id !== DOMAIN.id) throw notFound('Domain', request.params.id)
    return { domain }
  })
  scope.get('/v3/groups', async (request) => {
    sessionOf(authenticator, request)
    return listBody(context, request, 'groups', [])
  })
  scope.get('/v3/regions', async (request) => {
    sessionOf(authenticator, request)
    return listBody(context, request, 'regions', [{ id: context.region, description: '', parent_region_id: null }])
  })
  scope.get('/v3/services', async (request) => {
    requireRole(sessionOf(authenticator, request).principal, 'admin')
    const services = context.services.map((service) => ({
      id: serviceId(service),
      type: service.type,
      name: service.name,
      enabled: true,
    }))
    return listBody(context, request, 'services', services)
  })
  scope.get('/v3/endpoints', async (request) => {
    requireRole(sessionOf(authenticator, request).principal, 'admin')
    const base = context.baseUrl(request)
    const endpoints = context.services.flatMap((service) => endpointsOf(service, base, context.region))
    return listBody(context, request, 'endpoints', endpoints)
  })
}
