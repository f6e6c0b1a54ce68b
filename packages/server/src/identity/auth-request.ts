import { parseAs, SpoutError } from '@spout/model'
import { z } from 'zod'
import type { Scope, UserName } from '../authn/accounts.ts'

const text = z.string().max(255)
const named = z.object({ id: text.optional(), name: text.optional() })
const userSchema = named.extend({ domain: named.optional() })

const schema = z.object({
  auth: z.object({
    identity: z.object({
      methods: z.array(z.enum(['password', 'token', 'application_credential'])).length(1),
      password: z.object({ user: userSchema.extend({ password: z.string().max(4096) }) }).optional(),
      token: z.object({ id: text }).optional(),
      application_credential: userSchema
        .extend({ secret: z.string().max(4096), user: userSchema.optional() })
        .optional(),
    }),
    scope: z
      .union([
        z.literal('unscoped'),
        z.object({
          project: named.extend({ domain: named.optional() }).optional(),
          domain: z.unknown().optional(),
          system: z.unknown().optional(),
          unscoped: z.unknown().optional(),
        }),
      ])
      .optional(),
  }),
})

export type AuthRequest =
  | { readonly method: 'password'; readonly user: UserName; readonly password: string; readonly scope: Scope }
  | { readonly method: 'token'; readonly secret: string; readonly scope: Scope }
  | {
      readonly method: 'application_credential'
      readonly credential: { readonly id: string } | { readonly name: string; readonly user: UserName }
      readonly secret: string
    }

/** Parses the body of `POST /v3/auth/tokens`. @throws SpoutError naming the field */
export function authRequest(body: unknown): AuthRequest {
  const { identity, scope } = parseAs(schema, body).auth
  const method = identity.methods[0]
  if (method === 'password') {
    const given = identity.password ?? missing('auth.identity.password')
    const user = userName(given.user, 'auth.identity.password.user')
    return { method, user, password: given.user.password, scope: projectScope(scope) }
  }
  if (method === 'token') {
    const given = identity.token ?? missing('auth.identity.token')
    return { method, secret: given.id, scope: projectScope(scope) }
  }
  const given = identity.application_credential ?? missing('auth.identity.application_credential')
  const path = 'auth.identity.application_credential'
  const credential =
    given.id !== undefined
      ? { id: given.id }
      : {
          name: given.name ?? missing(`${path}.name`),
          user: userName(given.user ?? missing(`${path}.user`), `${path}.user`),
        }
  return { method: 'application_credential', credential, secret: given.secret }
}

type Named = z.output<typeof userSchema>

function userName(user: Named, path: string): UserName {
  if (user.id !== undefined) return { id: user.id }
  requireDefaultDomain(user.domain, `${path}.domain`)
  return { name: user.name ?? missing(`${path}.name`) }
}

function projectScope(scope: z.output<typeof schema>['auth']['scope']): Scope {
  if (scope === undefined || scope === 'unscoped' || scope.unscoped !== undefined) return null
  for (const kind of ['domain', 'system'] as const)
    if (scope[kind] !== undefined)
      throw new SpoutError('Unsupported', { field: `auth.scope.${kind}`, reason: 'tokens are scoped to a project' })
  if (scope.project === undefined) return missing('auth.scope.project')
  if (scope.project.id !== undefined) return { id: scope.project.id }
  requireDefaultDomain(scope.project.domain, 'auth.scope.project.domain')
  return { name: scope.project.name ?? missing('auth.scope.project.name') }
}

function requireDefaultDomain(
  domain: { id?: string | undefined; name?: string | undefined } | undefined,
  path: string,
) {
  if (domain === undefined) return
  if (domain.id === 'default' || domain.name?.toLowerCase() === 'default') return
  throw new SpoutError('Unauthenticated', { reason: `${path} is not the domain Default` })
}

const missing = (field: string): never => {
  throw new SpoutError('MissingField', { field })
}
