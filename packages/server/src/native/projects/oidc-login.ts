import { SpoutError } from '@spout/model'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { noteLogin } from '../../audit/audit-notes.ts'
import type { IssuedToken } from '../../authn/issued-tokens.ts'
import { tokenInCookie } from '../../authn/page-cookie.ts'
import type { OpenIdLogins } from '../../openid/openid-logins.ts'
import type { NativeContext } from '../operations/context.ts'

/** What an OpenID Connect provider has sent the browser back with: the parameters of those names. */
export const oidcLogin = z.strictObject({
  code: z.string().min(1).max(8192),
  state: z.string().min(1).max(255),
  iss: z.string().min(1).max(2048).optional(),
})

/** @throws SpoutError Forbidden where there is no provider */
export function providerOf({ page: { oidc } }: NativeContext): OpenIdLogins {
  if (oidc === null) throw new SpoutError('Forbidden', { reason: 'there is no login by OpenID Connect here' })
  return oidc
}

/** Logs in whom the provider names. @throws SpoutError as `OpenIdLogins` does */
export async function loginByProvider(
  context: NativeContext,
  request: FastifyRequest,
  answer: z.output<typeof oidcLogin>,
): Promise<IssuedToken> {
  noteLogin(request, { method: 'oidc' })
  const provider = providerOf(context)
  const person = await provider.personOf(tokenInCookie(provider.cookie, request), answer, request.ip)
  noteLogin(request, { method: 'oidc', userId: person.id, userName: person.name })
  return provider.logIn(person)
}
