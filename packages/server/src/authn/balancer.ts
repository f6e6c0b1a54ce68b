import type { Principal } from '@spout/admission/contract'
import { SpoutError } from '@spout/model'
import { credentialOf } from './grant.ts'
import type { Session } from './issued-tokens.ts'

/**
 * Whether the caller has role `balancer` alone. The role is for a program on machines that are not ours, such as the
 * connector in a tenant's cluster: it creates load balancers in one project on behalf of others, and stores their
 * certificates. A stolen token can do nothing else, and read no private key. The role's operations are an allow list,
 * so new ones are refused by default.
 */
export const mayOnlyBalance = ({ roles }: Principal): boolean =>
  roles.includes('balancer') && !roles.some((role) => role !== 'balancer')

/**
 * Whether a token cannot be exchanged for one of another project. A credential is for one project, and a balancer's user
 * may have other roles in other projects. So the tokens of both keep their project and their roles.
 */
export const staysInProject = ({ principal, token }: Session): boolean =>
  credentialOf(token) !== null || mayOnlyBalance(principal)

/**
 * Allowed operations of the native API, as `METHOD /path` of its routes. Everything below `/load-balancers` is allowed
 * as well.
 */
const ALLOWED: ReadonlySet<string> = new Set([
  'POST /tokens',
  'GET /tokens/current',
  'DELETE /tokens/current',
  'POST /session',
  'GET /session',
  'DELETE /session',
  'GET /networks',
  'GET /networks/:id',
  'PUT /networks/:id/routes',
  'GET /address-pools',
  'GET /address-pools/:id',
  'GET /load-balancer-classes',
  'GET /load-balancer-classes/:id',
  'GET /projects',
  'GET /projects/:id/quota',
  'GET /certificates',
  'GET /certificates/:id',
  'POST /certificates',
  'PATCH /certificates/:id',
  'DELETE /certificates/:id',
])

/** Whether the role suffices for a route of the native API. */
export const isBalancing = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
  path === '/load-balancers' || path.startsWith('/load-balancers/') || ALLOWED.has(`${method} ${path}`)

/** @throws SpoutError Forbidden for a token that may only balance */
export function refuseBalancer(principal: Principal): Principal {
  if (mayOnlyBalance(principal))
    throw new SpoutError('Forbidden', { reason: 'a token of role balancer is for load balancers in the native API' })
  return principal
}
