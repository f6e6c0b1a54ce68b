import { randomUUID } from 'node:crypto'
import { type ApplicationCredential, parseAs, type Role, SpoutError } from '@spout/model'
import { Mutex } from '@spout/runtime'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isAdmin } from '../authn/access.ts'
import { sessionOf } from '../authn/authenticate.ts'
import { credentialOf } from '../authn/grant.ts'
import type { Session } from '../authn/issued-tokens.ts'
import { sourceOf } from '../authn/login-source.ts'
import { holds } from '../authn/roles.ts'
import { newSecret } from '../authn/token-secret.ts'
import type { IdentityContext } from './context.ts'
import { listBody, notFound } from './list-body.ts'
import { NAMED_ROLES, shownRole } from './role-names.ts'
import { keystoneTime } from './token-body.ts'

/** More roles than exist, because two names may mean the same one. */
const MOST_ROLES = 16

const draft = z.object({
  application_credential: z.strictObject({
    name: z.string().min(1).max(255),
    description: z.string().max(255).nullish(),
    secret: z.string().min(16).max(1024).nullish(),
    expires_at: z.string().max(64).nullish(),
    roles: z
      .array(z.object({ id: z.string().max(255).optional(), name: z.string().max(255).optional() }))
      .max(MOST_ROLES)
      .nullish(),
    unrestricted: z.literal(false).nullish(),
    access_rules: z.array(z.never()).nullish(),
    project_id: z.string().nullish(),
  }),
})

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
  const { view, admission, authenticator, clock } = context
  const path = '/v3/users/:user/application_credentials'

  const ownerSession = (request: FastifyRequest<Owned>): Session => {
    const session = sessionOf(authenticator, request)
    const { principal } = session
    if (request.params.user !== principal.userId && !isAdmin(principal)) throw notFound('User', request.params.user)
    return session
  }
  const creations = new Mutex()
  const requireRoom = (userId: string): void => {
    const used = view.list('applicationCredential').filter((credential) => credential.userId === userId).length
    if (used >= context.credentialsPerUser)
      throw new SpoutError('OverQuota', {
        resource: 'application_credentials',
        limit: context.credentialsPerUser,
        used,
        wanted: 1,
      })
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
    const { principal, token } = ownerSession(request)
    if (principal.projectId === null || principal.userId !== request.params.user)
      throw new SpoutError('Forbidden', { reason: 'a credential is made by its user, on the project of the token' })
    if (credentialOf(token) !== null)
      throw new SpoutError('Forbidden', { reason: 'an application credential may not make another' })
    if (request.foreignSession !== undefined)
      throw new SpoutError('Forbidden', { reason: "Keystone's users make their credentials there" })
    const wanted = parseAs(draft, request.body).application_credential
    const taken = view
      .list('applicationCredential')
      .some((other) => other.userId === principal.userId && other.name === wanted.name)
    if (taken) throw new SpoutError('NameTaken', { field: 'name', what: 'application credential', name: wanted.name })
    if (principal.roles.length === 0) throw new SpoutError('Forbidden', { reason: 'you have no role to pass on' })
    requireRoom(principal.userId)
    const secret = wanted.secret ?? newSecret()
    const asker = { user: principal.userId, source: sourceOf(request.ip) }
    const credential: ApplicationCredential = {
      id: randomUUID(),
      name: wanted.name,
      description: wanted.description ?? '',
      createdAt: clock.now().toISOString(),
      updatedAt: null,
      userId: principal.userId,
      projectId: principal.projectId,
      roles:
        wanted.roles == null
          ? [...principal.roles]
          : [...new Set(wanted.roles.map((role, at) => ownRole(principal.roles, role, at)))],
      expiresAt: wanted.expires_at == null ? null : expiry(wanted.expires_at, clock.now()),
      secretHash: await authenticator.passwords.hash(secret, asker),
    }
    // The user may have created other credentials while this one was hashed.
    await creations.run(async () => {
      requireRoom(principal.userId)
      await admission.putApplicationCredential(credential)
    })
    return reply.code(201).send({ application_credential: { ...shown(context, request, credential), secret } })
  })

  scope.delete<Owned>(`${path}/:id`, async (request, reply) => {
    const { token } = ownerSession(request)
    if (credentialOf(token) !== null)
      throw new SpoutError('Forbidden', { reason: 'an application credential may not delete credentials' })
    await admission.deleteApplicationCredential(known(request).id)
    return reply.code(204).send()
  })
}

/** The requested role, which the user must have. */
function ownRole(
  own: readonly Role[],
  wanted: { id?: string | undefined; name?: string | undefined },
  at: number,
): Role {
  const field = `application_credential.roles[${at}]`
  // The OpenStack client looks up a role in its token. If it is not there, the client sends the typed name as an id.
  const named = NAMED_ROLES.find(
    (known) => known.id === wanted.id || known.name === wanted.name || known.name === wanted.id,
  )
  if (named === undefined)
    throw new SpoutError('ReferenceNotFound', { field, what: 'Role', id: wanted.id ?? wanted.name ?? '' })
  if (!holds(own, named.name))
    throw new SpoutError('Forbidden', { reason: `you have no role ${named.name} to pass on` })
  return named.name
}

/** Keystone's times have no zone and mean UTC. */
function expiry(text: string, now: Date): string {
  const field = 'application_credential.expires_at'
  const at = Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`)
  if (Number.isNaN(at))
    throw new SpoutError('InvalidField', { field, reason: 'is not a time like 2026-01-31T12:00:00' })
  if (at <= now.getTime()) throw new SpoutError('InvalidField', { field, reason: 'lies in the past' })
  return new Date(at).toISOString()
}
