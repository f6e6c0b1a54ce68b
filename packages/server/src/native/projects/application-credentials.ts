import { applicationCredential, ROLES, type Role, SpoutError, timestamp } from '@spout/model'
import { z } from 'zod'
import { sessionOf } from '../../authn/authenticate.ts'
import { holds } from '../../authn/roles.ts'
import { type Collection, find } from '../operations/collection.ts'
import { type Route, route } from '../operations/route.ts'
import { shownApplicationCredential } from '../operations/shown.ts'
import { readRoutes } from '../watches/read-routes.ts'

/** A credential as the API answers it, without what its secret is compared with. */
const publicCredential = applicationCredential.omit({ secretHash: true })

const draft = z.strictObject({
  name: applicationCredential.shape.name.min(1),
  description: applicationCredential.shape.description.default(''),
  /** Left out: all that the token has. */
  roles: z.array(z.enum(ROLES)).min(1).max(ROLES.length).optional(),
  expiresAt: timestamp.nullable().default(null),
})

/** Those of the user, for the project of the token. Nobody else knows of them here, administrators included. */
export const CREDENTIALS: Collection<'applicationCredential'> = {
  kind: 'applicationCredential',
  path: '/application-credentials',
  what: 'Application credential',
  access: 'reader',
  schema: publicCredential,
  ofProject: true,
  visible: (principal, { userId, projectId }) => userId === principal.userId && projectId === principal.projectId,
  show: shownApplicationCredential,
}

export const applicationCredentialRoutes: readonly Route[] = [
  ...readRoutes(CREDENTIALS),
  route({
    method: 'POST',
    path: CREDENTIALS.path,
    tag: 'application-credentials',
    summary: 'Create an application credential of the user for the project of the token; `secret` is shown once',
    access: 'reader',
    body: draft,
    answer: { status: 201, schema: publicCredential.extend({ secret: z.string() }) },
    handle: async (context, { body, principal, request }) => {
      const { credentials, authenticator, clock } = context
      body.roles?.forEach((role, at) => {
        requireHeld(principal.roles, role, `roles[${at}]`)
      })
      if (body.expiresAt !== null && body.expiresAt <= clock.now().toISOString())
        throw new SpoutError('InvalidField', { field: 'expiresAt', reason: 'lies in the past' })
      const asked = { ...body, secret: null, roles: body.roles ?? null }
      const { credential, secret } = await credentials.make(sessionOf(authenticator, request), request, asked)
      return { ...shownApplicationCredential(context, credential), secret }
    },
  }),
  route({
    method: 'DELETE',
    path: `${CREDENTIALS.path}/:id`,
    tag: 'application-credentials',
    summary: 'Delete an application credential of the user; its tokens end',
    access: 'reader',
    body: null,
    answer: { status: 204, schema: null },
    handle: (context, { principal, params, request }) => {
      const { id } = find(CREDENTIALS, context, principal, params.id ?? '')
      return context.credentials.delete(sessionOf(context.authenticator, request), id)
    },
  }),
]

/** @throws SpoutError InvalidField for a role that the token does not have */
function requireHeld(own: readonly Role[], role: Role, field: string): void {
  if (!holds(own, role)) throw new SpoutError('InvalidField', { field, reason: `you have no role ${role} to pass on` })
}
