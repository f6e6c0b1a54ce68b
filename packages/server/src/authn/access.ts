import type { Principal } from '@spout/admission/contract'
import { type Role, SpoutError } from '@spout/model'
import { holds } from './roles.ts'

export const isAdmin = (principal: Principal): boolean => principal.roles.includes('admin')

/** @throws SpoutError Forbidden without the role */
export function requireRole(principal: Principal, role: Role): void {
  if (principal.projectId === null) throw new SpoutError('Forbidden', { reason: 'the token has no project' })
  if (holds(principal.roles, role)) return
  const has = principal.roles.length === 0 ? 'none' : principal.roles.join(', ')
  throw new SpoutError('Forbidden', { reason: `the role ${role} is needed, the token has ${has}` })
}

/** Whether an object of this project exists for who asks: other tenants' objects do not. */
export const mayKnow = (principal: Principal, projectId: string | null): boolean =>
  isAdmin(principal) || (projectId !== null && projectId === principal.projectId)

/** The project a list is narrowed to; undefined for an administrator, who sees all. */
export const listScope = (principal: Principal): { readonly projectId?: string } =>
  isAdmin(principal) ? {} : { projectId: principal.projectId ?? '' }

/**
 * The project that a new object shall belong to: the token's, or for an administrator the one he names.
 * @param role that is needed to make one
 * @throws SpoutError Forbidden when somebody else names a foreign one
 */
export function projectForNew(principal: Principal, wanted: string | null | undefined, role: Role = 'member'): string {
  requireRole(principal, role)
  const projectId = wanted ?? principal.projectId
  if (projectId === null) throw new SpoutError('Forbidden', { reason: 'the token has no project' })
  if (projectId !== principal.projectId && !isAdmin(principal))
    throw new SpoutError('Forbidden', { reason: 'only an administrator may name another project' })
  return projectId
}
