import { SpoutError } from '@spout/model'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { noteLogin, notesOf } from '../audit/audit-notes.ts'
import { isAdmin } from '../authn/access.ts'
import { sessionOf } from '../authn/authenticate.ts'
import type { IssuedToken, Session } from '../authn/issued-tokens.ts'
import { keepSession } from '../authn/request-session.ts'
import { isAssigned } from '../authn/roles.ts'
import { authRequest } from './auth-request.ts'
import { catalog } from './catalog.ts'
import type { IdentityContext } from './context.ts'
import { listBody } from './list-body.ts'
import { shownProject } from './projects.ts'
import { DOMAIN } from './role-names.ts'
import { tokenBody } from './token-body.ts'

/** `/v3/auth`: tokens, and what a token may ask about itself. */
export function authRoutes(scope: FastifyInstance, context: IdentityContext): void {
  const { authenticator, view } = context

  scope.post('/v3/auth/tokens', async (request, reply) => {
    const issued = await login(context, request)
    keepSession(request, issued)
    return reply
      .code(201)
      .header('x-subject-token', issued.secret)
      .send(tokenBody(context, request, issued))
  })

  // Fastify adds HEAD.
  scope.get('/v3/auth/tokens', async (request, reply) => {
    const { secret, session } = subjectOf(context, request)
    return reply.header('x-subject-token', secret).send(tokenBody(context, request, session))
  })

  scope.delete('/v3/auth/tokens', async (request, reply) => {
    await authenticator.tokens.revoke(subjectOf(context, request).session.token.id)
    return reply.code(204).send()
  })

  scope.get('/v3/auth/catalog', async (request) => {
    sessionOf(authenticator, request)
    const base = context.baseUrl(request)
    return {
      catalog: catalog(context.services, base, context.region),
      links: { self: `${base}/identity/v3/auth/catalog` },
    }
  })

  scope.get('/v3/auth/projects', async (request) => {
    const { principal } = sessionOf(authenticator, request)
    const user = view.get('user', principal.userId)?.value
    const own = view.list('project').filter((project) => user !== undefined && isAssigned(user, project.id))
    return listBody(
      context,
      request,
      'projects',
      own.map((project) => shownProject(context, request, project)),
    )
  })

  scope.get('/v3/auth/domains', async (request) => {
    sessionOf(authenticator, request)
    return listBody(context, request, 'domains', [{ ...DOMAIN, enabled: true }])
  })

  scope.get('/v3/auth/system', async (request) => {
    sessionOf(authenticator, request)
    return { system: [] }
  })
}

function login(context: IdentityContext, request: FastifyRequest): Promise<IssuedToken> {
  const wanted = authRequest(request.body)
  const { authenticator } = context
  if (wanted.method === 'password') {
    noteLogin(request, { ...authenticator.ownerOf(wanted.user), method: 'password' })
    return authenticator.loginWithPassword(wanted.user, wanted.password, wanted.scope, request.ip)
  }
  if (wanted.method === 'token') {
    noteLogin(request, { method: 'token' })
    return authenticator.loginWithToken(wanted.secret, wanted.scope)
  }
  const { credential } = wanted
  noteLogin(request, { ...authenticator.ownerOf({ credential }), method: 'application_credential' })
  return authenticator.loginWithCredential(wanted.credential, wanted.secret, request.ip)
}

/** The token that a request asks about: for an administrator any, else one of the caller's own. */
function subjectOf(context: IdentityContext, request: FastifyRequest): { secret: string; session: Session } {
  const asker = sessionOf(context.authenticator, request)
  const secret = request.headers['x-subject-token']
  if (typeof secret !== 'string') throw new SpoutError('MissingField', { field: 'X-Subject-Token' })
  try {
    const session = context.authenticator.tokens.session(secret)
    // Reading or ending another user's token is audited.
    if (session.principal.userId !== asker.principal.userId) notesOf(request).isSensitive = true
    if (isAdmin(asker.principal) || session.principal.userId === asker.principal.userId) return { secret, session }
  } catch (error) {
    if (!(error instanceof SpoutError) || error.kind !== 'unauthenticated') throw error
  }
  throw new SpoutError('NotFound', { what: 'Token', id: '(subject)' })
}
