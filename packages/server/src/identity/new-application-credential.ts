import { parseAs, type Role, SpoutError } from '@spout/model'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { NewCredential } from '../authn/credential-maker.ts'
import type { Session } from '../authn/issued-tokens.ts'
import { holds } from '../authn/roles.ts'
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

type Owned = { readonly Params: { readonly user: string } }

/** Makes a credential as a request of Keystone's API asks, for the user of the session. */
export async function newCredential(
  { credentials, clock }: IdentityContext,
  session: Session,
  request: FastifyRequest<Owned>,
): Promise<NewCredential> {
  const { principal } = session
  if (principal.userId !== request.params.user)
    throw new SpoutError('Forbidden', { reason: 'a credential is made by its user, on the project of the token' })
  credentials.requireMaker(session, request)
  const wanted = parseAs(draft, request.body).application_credential
  return credentials.make(session, request, {
    name: wanted.name,
    description: wanted.description ?? '',
    secret: wanted.secret ?? null,
    roles: wanted.roles?.map((role, at) => ownRole(principal.roles, role, at)) ?? null,
    expiresAt: wanted.expires_at == null ? null : expiry(wanted.expires_at, clock.now()),
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
