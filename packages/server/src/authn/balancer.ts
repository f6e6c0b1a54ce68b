import type { Principal } from '@spout/admission/contract'
import { SpoutError } from '@spout/model'

/**
 * Role `balancer`: the token of a program that turns somebody else's wishes into load balancers of one project, and that
 * runs where we do not. Stolen, it can do nothing else. What it may call is listed; whatever comes to be is refused.
 */
export const mayOnlyBalance = ({ roles }: Principal): boolean =>
  roles.includes('balancer') && !roles.some((role) => role !== 'balancer')

/** What of the native API, as `METHOD /path` of its routes; below `/load-balancers` everything. */
const ALLOWED: ReadonlySet<string> = new Set([
  'POST /tokens',
  'GET /tokens/current',
  'DELETE /tokens/current',
  'GET /networks',
  'GET /networks/:id',
  'PUT /networks/:id/routes',
  'GET /address-pools',
  'GET /address-pools/:id',
  'GET /projects/:id/quota',
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
