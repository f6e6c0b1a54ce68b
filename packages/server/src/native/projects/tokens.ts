import { ROLES, SpoutError, uuid } from '@spout/model'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { noteLogin } from '../../audit/audit-notes.ts'
import { sessionOf } from '../../authn/authenticate.ts'
import { keepSession } from '../../authn/request-session.ts'
import type { NativeContext } from '../operations/context.ts'
import { type Route, route } from '../operations/route.ts'
import { shownToken } from '../operations/shown.ts'
import { credentialLogin, login, passwordLogin } from './login.ts'

const anyLogin = z.union([
  passwordLogin,
  credentialLogin,
  /** The token of a pod in the control plane's cluster. */
  z.strictObject({ serviceAccountToken: z.string().min(1).max(16_384) }),
])

const shown = z.strictObject({
  userId: uuid,
  projectId: uuid.nullable(),
  roles: z.array(z.enum(ROLES)),
  expiresAt: z.string(),
})

const nameOfProject = ({ view }: NativeContext, id: string | null): string | null =>
  (id === null ? null : view.get('project', id)?.value.name) ?? null

function serviceAccountLogin({ authenticator }: NativeContext, request: FastifyRequest, token: string) {
  noteLogin(request, { method: 'service_account' })
  return authenticator.loginWithServiceAccount(token, request.ip)
}

export const tokenRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/tokens',
    tag: 'tokens',
    summary: 'Log in; `token` is shown once and goes into `Authorization: Bearer`',
    access: 'anyone',
    body: anyLogin,
    answer: { status: 201, schema: shown.extend({ token: z.string() }) },
    handle: async (context, { body, request }) => {
      const issued = await ('serviceAccountToken' in body
        ? serviceAccountLogin(context, request, body.serviceAccountToken)
        : login(context, request, body))
      keepSession(request, issued)
      return { ...shownToken(issued.token), token: issued.secret }
    },
  }),
  route({
    method: 'GET',
    path: '/tokens/current',
    tag: 'tokens',
    summary: 'Who this token is for',
    access: 'user',
    body: null,
    answer: { status: 200, schema: shown.extend({ userName: z.string(), projectName: z.string().nullable() }) },
    handle: (context, { principal, request }) => ({
      ...shownToken(sessionOf(context.authenticator, request).token),
      roles: principal.roles,
      userName: principal.userName,
      projectName: nameOfProject(context, principal.projectId),
    }),
  }),
  route({
    method: 'DELETE',
    path: '/tokens/current',
    tag: 'tokens',
    summary: 'Log out',
    access: 'user',
    body: null,
    answer: { status: 204, schema: null },
    handle: (context, { request }) => {
      const { token } = sessionOf(context.authenticator, request)
      if (request.foreignSession !== undefined)
        throw new SpoutError('Forbidden', { reason: 'this token is from Keystone: it is revoked there' })
      return context.authenticator.tokens.revoke(token.id)
    },
  }),
]
