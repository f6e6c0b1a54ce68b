import { parseAs, SpoutError, type User } from '@spout/model'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isAdmin, requireRole } from '../authn/access.ts'
import { sessionOf } from '../authn/authenticate.ts'
import type { Asker } from '../authn/fair-turns.ts'
import { sourceOf } from '../authn/login-source.ts'
import { newUser } from '../authn/new-user.ts'
import { isAssigned } from '../authn/roles.ts'
import type { IdentityContext } from './context.ts'
import { listBody, notFound } from './list-body.ts'
import { shownProject } from './projects.ts'
import { DOMAIN } from './role-names.ts'

const shownUser = (context: IdentityContext, request: FastifyRequest, user: User) => ({
  id: user.id,
  name: user.name,
  description: user.description,
  enabled: user.enabled,
  domain_id: DOMAIN.id,
  password_expires_at: null,
  options: {},
  links: { self: `${context.baseUrl(request)}/identity/v3/users/${user.id}` },
})

const password = z.string().min(1).max(1024)
const fields = {
  name: z.string().min(1).max(255),
  description: z.string().max(255).nullish(),
  enabled: z.boolean().optional(),
  password: password.nullish(),
  domain_id: z.literal(DOMAIN.id).nullish(),
  options: z.strictObject({}).optional(),
  /** Ignored: we store no mail addresses. */
  email: z.null().optional(),
  /** Ignored: a token names its project. */
  default_project_id: z.string().nullish(),
}
const draft = z.object({ user: z.strictObject(fields) })
const change = z.object({ user: z.strictObject({ ...fields, name: fields.name.optional() }) })
const passwordChange = z.object({ user: z.object({ password, original_password: z.string().max(1024) }) })

const askerOf = (user: string, request: FastifyRequest): Asker => ({ user, source: sourceOf(request.ip) })

type ById = { Params: { id: string } }

/** Users may see themselves, administrators everybody. */
function known({ view, authenticator }: IdentityContext, request: FastifyRequest, id: string): User {
  const { principal } = sessionOf(authenticator, request)
  const user = view.get('user', id)?.value
  if (user === undefined || (!isAdmin(principal) && user.id !== principal.userId)) throw notFound('User', id)
  return user
}

export function userRoutes(scope: FastifyInstance, context: IdentityContext): void {
  readRoutes(scope, context)
  writeRoutes(scope, context)
}

function readRoutes(scope: FastifyInstance, context: IdentityContext): void {
  const { view, authenticator } = context

  scope.get('/v3/users', async (request) => {
    const { principal } = sessionOf(authenticator, request)
    const users = view.list('user').filter((user) => isAdmin(principal) || user.id === principal.userId)
    return listBody(
      context,
      request,
      'users',
      users.map((user) => shownUser(context, request, user)),
    )
  })

  scope.get<ById>('/v3/users/:id', async (request) => ({
    user: shownUser(context, request, known(context, request, request.params.id)),
  }))

  scope.get<ById>('/v3/users/:id/projects', async (request) => {
    const user = known(context, request, request.params.id)
    const projects = view.list('project').filter((project) => isAssigned(user, project.id))
    return listBody(
      context,
      request,
      'projects',
      projects.map((project) => shownProject(context, request, project)),
    )
  })

  scope.get<ById>('/v3/users/:id/groups', async (request) => {
    known(context, request, request.params.id)
    return listBody(context, request, 'groups', [])
  })
}

function writeRoutes(scope: FastifyInstance, context: IdentityContext): void {
  const { admission, authenticator, clock } = context

  scope.post('/v3/users', async (request, reply) => {
    const { principal } = sessionOf(authenticator, request)
    requireRole(principal, 'admin')
    const wanted = parseAs(draft, request.body).user
    const user = await admission.putUser({
      ...newUser({ name: wanted.name, description: wanted.description ?? '' }, clock),
      enabled: wanted.enabled ?? true,
      passwordHash:
        wanted.password == null
          ? null
          : await authenticator.passwords.hash(wanted.password, askerOf(principal.userId, request)),
    })
    return reply.code(201).send({ user: shownUser(context, request, user) })
  })

  scope.patch<ById>('/v3/users/:id', async (request) => {
    const { principal } = sessionOf(authenticator, request)
    requireRole(principal, 'admin')
    const wanted = parseAs(change, request.body).user
    const hash =
      wanted.password == null
        ? undefined
        : await authenticator.passwords.hash(wanted.password, askerOf(principal.userId, request))
    const user = known(context, request, request.params.id)
    const changed = await admission.putUser({
      ...user,
      name: wanted.name ?? user.name,
      description: wanted.description ?? user.description,
      enabled: wanted.enabled ?? user.enabled,
      passwordHash: hash ?? user.passwordHash,
      updatedAt: clock.now().toISOString(),
    })
    if (hash !== undefined) await authenticator.tokens.revokeUser(user.id)
    return { user: shownUser(context, request, changed) }
  })

  scope.post<ById>('/v3/users/:id/password', async (request, reply) => {
    const wanted = parseAs(passwordChange, request.body).user
    const { id } = known(context, request, request.params.id)
    if (!(await authenticator.isPassword(id, wanted.original_password, request.ip)))
      throw new SpoutError('Unauthenticated', { reason: 'the original password is not right' })
    const hash = await authenticator.passwords.hash(wanted.password, askerOf(id, request))
    const user = known(context, request, id)
    await admission.putUser({ ...user, passwordHash: hash, updatedAt: clock.now().toISOString() })
    await authenticator.tokens.revokeUser(id)
    return reply.code(204).send()
  })

  scope.delete<ById>('/v3/users/:id', async (request, reply) => {
    requireRole(sessionOf(authenticator, request).principal, 'admin')
    const { id } = known(context, request, request.params.id)
    await admission.deleteUser(id)
    await authenticator.tokens.revokeUser(id)
    return reply.code(204).send()
  })
}
