import { pageSession, SpoutError, uuid } from '@spout/model'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../../authn/authenticate.ts'
import { staysInProject } from '../../authn/balancer.ts'
import type { Session } from '../../authn/issued-tokens.ts'
import { isOfPage, setCookie, tokenInCookie } from '../../authn/page-cookie.ts'
import { keepSession } from '../../authn/request-session.ts'
import { isAssigned } from '../../authn/roles.ts'
import { secretSha256 } from '../../authn/token-secret.ts'
import type { NativeContext } from '../operations/context.ts'
import { type Route, route } from '../operations/route.ts'
import { loginWayRoutes } from './login-ways.ts'
import { providerOf } from './oidc-login.ts'
import { openSession, pageLogin } from './open-session.ts'
import { shownSession } from './shown-session.ts'

/** The session of the web page: a token in a cookie that its scripts cannot read. */
export const sessionRoutes: readonly Route[] = [
  ...loginWayRoutes,
  route({
    method: 'POST',
    path: '/session',
    tag: 'session',
    summary: 'Log in on the web page: the token goes into a cookie; needs the header `spout-page: 1`',
    access: 'anyone',
    body: pageLogin,
    answer: { status: 201, schema: pageSession },
    handle: async (context, { body, request, reply }) => {
      if (!isOfPage(request)) throw new SpoutError('Forbidden', { reason: 'only the web page opens a session' })
      // What a browser brings back from a provider counts once, whatever comes of it.
      if ('code' in body) reply.header('set-cookie', setCookie(providerOf(context).cookie, '', 0))
      const opened = await openSession(context, request, body)
      keepSession(request, opened)
      await endFormer(context, request)
      giveCookie(context, reply, opened)
      return shownSession(context, opened, opened.isForeign)
    },
  }),
  route({
    method: 'GET',
    path: '/session',
    tag: 'session',
    summary: 'Who uses the session, and the projects that it may switch to',
    access: 'user',
    body: null,
    answer: { status: 200, schema: pageSession },
    handle: (context, { request }) =>
      shownSession(context, sessionOf(context.authenticator, request), request.foreignSession !== undefined),
  }),
  route({
    method: 'PUT',
    path: '/session/project',
    tag: 'session',
    summary: 'Switch to another project: the cookie gets another token, and the former one ends',
    access: 'user',
    ofSession: true,
    body: z.strictObject({ projectId: uuid }),
    answer: { status: 200, schema: pageSession },
    handle: async (context, { body: { projectId }, request, reply }) => {
      const { authenticator } = context
      const secret = tokenInCookie(authenticator.cookie, request)
      const session = sessionOf(authenticator, request)
      if (secret === null || request.tokenFrom !== 'cookie')
        throw new SpoutError('Forbidden', { reason: 'only the session of the web page switches its project' })
      if (request.foreignSession !== undefined || staysInProject(session))
        throw new SpoutError('Forbidden', { reason: 'the token of this session is for one project' })
      requireAssigned(context, session, projectId)
      const issued = await authenticator.loginWithToken(secret, { id: projectId })
      await authenticator.tokens.revoke(session.token.id)
      giveCookie(context, reply, issued)
      return shownSession(context, issued, false)
    },
  }),
  route({
    method: 'DELETE',
    path: '/session',
    tag: 'session',
    summary: 'Log out: the token ends',
    access: 'user',
    body: null,
    answer: { status: 204, schema: null },
    handle: async ({ authenticator }, { request, reply }) => {
      const { token } = sessionOf(authenticator, request)
      if (request.foreignSession === undefined) await authenticator.tokens.revoke(token.id)
      reply.header('set-cookie', setCookie(authenticator.cookie, '', 0))
    },
  }),
]

/** The browser forgets the cookie that it had, so nobody would log out of that session. */
async function endFormer({ authenticator: { cookie, tokens } }: NativeContext, request: FastifyRequest): Promise<void> {
  const former = tokenInCookie(cookie, request)
  if (former !== null && tokens.issued(former)) await tokens.revoke(secretSha256(former))
}

/** The browser forgets the cookie when the token expires. */
function giveCookie(
  { authenticator, clock }: NativeContext,
  reply: FastifyReply,
  { secret, principal }: Session & { readonly secret: string },
): void {
  const leftMs = Date.parse(principal.expiresAt) - clock.now().getTime()
  reply.header('set-cookie', setCookie(authenticator.cookie, secret, Math.max(0, Math.floor(leftMs / 1000))))
}

/** @throws SpoutError NotFound for a project in which the user has no role */
function requireAssigned({ view }: NativeContext, { principal }: Session, projectId: string): void {
  const user = view.get('user', principal.userId)?.value
  const project = view.get('project', projectId)?.value
  if (user === undefined || project?.enabled !== true || !isAssigned(user, projectId))
    throw new SpoutError('NotFound', { what: 'Project', id: projectId })
}
