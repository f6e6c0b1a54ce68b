import type { ApplicationCredential } from '@spout/model'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isAdmin } from '../authn/access.ts'
import { sessionOf } from '../authn/authenticate.ts'
import type { Session } from '../authn/issued-tokens.ts'
import type { IdentityContext } from './context.ts'
import { listBody, notFound } from './list-body.ts'
import { newCredential } from './new-application-credential.ts'
import { shownRole } from './role-names.ts'
import { keystoneTime } from './token-body.ts'

const shown = (context: IdentityContext, request: FastifyRequest, credential: ApplicationCredential) => ({
  id: credential.id,
  name: credential.name,
  description: credential.description,
  project_id: credential.projectId,
  user_id: credential.userId,
  roles: credential.roles.map((role) => ({ ...shownRole(role), domain_id: null })),
  expires_at: credential.expiresAt === null ? null : keystoneTime(credential.expiresAt),
  unrestricted: false,
  links: {
    self: `${context.baseUrl(request)}/identity/v3/users/${credential.userId}/application_credentials/${credential.id}`,
  },
})

type Owned = { Params: { user: string; id: string } }

/** Application credentials. Each belongs to its user, and only that user can create it. */
export function applicationCredentialRoutes(scope: FastifyInstance, context: IdentityContext): void {
  const { view, authenticator, credentials } = context
  const path = '/v3/users/:user/application_credentials'

  const ownerSession = (request: FastifyRequest<Owned>): Session => {
    const session = sessionOf(authenticator, request)
    const { principal } = session
    if (request.params.user !== principal.userId && !isAdmin(principal)) throw notFound('User', request.params.user)
    return session
  }
  const known = (request: FastifyRequest<Owned>): ApplicationCredential => {
    const credential = view.get('applicationCredential', request.params.id)?.value
    if (credential?.userId !== request.params.user) throw notFound('Application credential', request.params.id)
    return credential
  }

  scope.get<Owned>(path, async (request) => {
    ownerSession(request)
    const own = view.list('applicationCredential').filter((credential) => credential.userId === request.params.user)
    const items = own.map((credential) => shown(context, request, credential))
    return listBody(context, request, 'application_credentials', items)
  })

  scope.get<Owned>(`${path}/:id`, async (request) => {
    ownerSession(request)
    return { application_credential: shown(context, request, known(request)) }
  })

  scope.post<Owned>(path, async (request, reply) => {
    const { credential, secret } = await newCredential(context, ownerSession(request), request)
    return reply.code(201).send({ application_credential: { ...shown(context, request, credential), secret } })
  })

  scope.delete<Owned>(`${path}/:id`, async (request, reply) => {
    await credentials.delete(ownerSession(request), known(request).id)
    return reply.code(204).send()
  })
}
