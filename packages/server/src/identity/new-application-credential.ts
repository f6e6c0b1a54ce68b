import { randomUUID } from 'node:crypto'
import { type ApplicationCredential, parseAs, type Role, SpoutError } from '@spout/model'
import { Mutex } from '@spout/runtime'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { credentialOf } from '../authn/grant.ts'
import type { Session } from '../authn/issued-tokens.ts'
import { sourceOf } from '../authn/login-source.ts'
import { isNameOfPerson } from '../authn/person-name.ts'
import { holds } from '../authn/roles.ts'
import { newSecret } from '../authn/token-secret.ts'
import type { IdentityContext } from './context.ts'
import { NAMED_ROLES } from './role-names.ts'

/** Limit of roles in a request. There are fewer, but two names may mean the same one. */
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

/** A stored credential, and its secret, which is shown this once. */
export interface NewCredential {
  readonly credential: ApplicationCredential
  readonly secret: string
}

/** Makes application credentials. @returns a function that makes one as the body asks, for the user of the session */
export function credentialMaker(
  context: IdentityContext,
): (session: Session, request: FastifyRequest<{ Params: { user: string } }>) => Promise<NewCredential> {
  const { view, admission, authenticator, clock } = context
  const creations = new Mutex()
  const ownOf = (userId: string) => view.list('applicationCredential').filter((known) => known.userId === userId)

  const requireRoom = (userId: string): void => {
    const [used, limit] = [ownOf(userId).length, context.credentialsPerUser]
    if (used >= limit)
      throw new SpoutError('OverQuota', { resource: 'application_credentials', limit, used, wanted: 1 })
  }

  return async ({ principal, token }, request) => {
    if (principal.projectId === null || principal.userId !== request.params.user)
      throw new SpoutError('Forbidden', { reason: 'a credential is made by its user, on the project of the token' })
    if (credentialOf(token) !== null)
      throw new SpoutError('Forbidden', { reason: 'an application credential may not make another' })
    if (request.foreignSession !== undefined)
      throw new SpoutError('Forbidden', { reason: "Keystone's users make their credentials there" })
    // The provider is not asked about a credential, which would go on when the person has left.
    if (isNameOfPerson(principal.userName))
      throw new SpoutError('Forbidden', { reason: 'who logs in by OpenID Connect makes no credentials' })
    const wanted = parseAs(draft, request.body).application_credential
    if (ownOf(principal.userId).some(({ name }) => name === wanted.name))
      throw new SpoutError('NameTaken', { field: 'name', what: 'application credential', name: wanted.name })
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
    return { credential, secret }
  }
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
