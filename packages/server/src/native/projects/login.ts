import { uuid } from '@spout/model'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { noteLogin } from '../../audit/audit-notes.ts'
import type { Scope } from '../../authn/accounts.ts'
import type { IssuedToken } from '../../authn/issued-tokens.ts'
import type { NativeContext } from '../operations/context.ts'

const name = z.string().min(1).max(255)
const secret = z.string().min(1).max(4096)

export const passwordLogin = z.strictObject({
  userName: name,
  password: secret,
  /** The token's project. Without one it may only ask who its user is. */
  projectName: name.optional(),
  projectId: uuid.optional(),
})
export const credentialLogin = z.strictObject({ applicationCredentialId: uuid, secret })

type Login = z.output<typeof passwordLogin> | z.output<typeof credentialLogin>

/** Logs in with a password or an application credential. @throws SpoutError as `Authenticator` does */
export function login({ authenticator }: NativeContext, request: FastifyRequest, body: Login): Promise<IssuedToken> {
  if ('applicationCredentialId' in body) {
    const wanted = { id: body.applicationCredentialId }
    noteLogin(request, { ...authenticator.ownerOf({ credential: wanted }), method: 'application_credential' })
    return authenticator.loginWithCredential(wanted, body.secret, request.ip)
  }
  const user = { name: body.userName }
  noteLogin(request, { ...authenticator.ownerOf(user), method: 'password' })
  return authenticator.loginWithPassword(user, body.password, scopeOf(body), request.ip)
}

function scopeOf({ projectId, projectName }: z.output<typeof passwordLogin>): Scope {
  if (projectId !== undefined) return { id: projectId }
  return projectName === undefined ? null : { name: projectName }
}
