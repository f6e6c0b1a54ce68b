import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { noteLogin } from '../../audit/audit-notes.ts'
import { badCredentials } from '../../authn/accounts.ts'
import type { Session } from '../../authn/issued-tokens.ts'
import { fitsInCookie } from '../../authn/page-cookie.ts'
import type { NativeContext } from '../operations/context.ts'
import { credentialLogin, login, passwordLogin } from './login.ts'
import { loginByProvider, oidcLogin } from './oidc-login.ts'

/** A token that the user has already: ours, or Keystone's. */
const tokenLogin = z.strictObject({
  token: z.string().min(1).max(4096).refine(fitsInCookie, 'is no token, or too long for a cookie'),
})
export const pageLogin = z.union([passwordLogin, credentialLogin, tokenLogin, oidcLogin])

export interface OpenedSession extends Session {
  /** What the cookie gets. */
  readonly secret: string
  readonly isForeign: boolean
}

/** Logs the user of the web page in. A token of ours is exchanged: the session and it end apart. */
export async function openSession(
  context: NativeContext,
  request: FastifyRequest,
  body: z.output<typeof pageLogin>,
): Promise<OpenedSession> {
  if ('code' in body) return { ...(await loginByProvider(context, request, body)), isForeign: false }
  if (!('token' in body)) return { ...(await login(context, request, body)), isForeign: false }
  noteLogin(request, { method: 'token' })
  const { authenticator, page } = context
  const { token: secret } = body
  if (!authenticator.tokens.issued(secret)) {
    if (page.foreign === null) throw badCredentials()
    return { ...(await page.foreign.open(secret)).current(), secret, isForeign: true }
  }
  const { projectId } = authenticator.tokens.session(secret).principal
  const issued = await authenticator.loginWithToken(secret, projectId === null ? null : { id: projectId })
  return { ...issued, isForeign: false }
}
