import type { Principal } from '@spout/admission/contract'
import { type Role, SpoutError } from '@spout/model'
import { suffice } from './roles.ts'

export const isAdmin = (principal: Principal): boolean => principal.roles.includes('admin')

/** @throws SpoutError Forbidden without the role */
export function requireRole(principal: Principal, role: Role): void {
  if (principal.projectId === null) throw new SpoutError('Forbidden', { reason: 'the token has no project' })
  if (suffice(principal.roles, role)) return
  const has = principal.roles.length === 0 ? 'none' : principal.roles.join(', ')
  throw new SpoutError('Forbidden', { reason: `the role ${role} is needed, the token has ${has}` })
}

/** Whether the caller may know of an object of this project. Objects of other tenants look as if they did not exist. */
export const mayKnow = (principal: Principal, projectId: string | null): boolean =>
  isAdmin(principal) || (projectId !== null && projectId === principal.projectId)

/** The project that a list is limited to; undefined for an administrator, who sees all. */
export const listScope = (principal: Principal): { readonly projectId?: string } =>
  isAdmin(principal) ? {} : { projectId: principal.projectId ?? '' }

/**
 * The project of a new object: the token's, or the one that an administrator names.
 * @param role needed to create it
 * @throws SpoutError Forbidden when another caller names a foreign project
 */
export function projectForNew(principal: Principal, wanted: string | null | undefined, role: Role = 'member'): string {
  requireRole(principal, role)
  const projectId = wanted ?? principal.projectId
  if (projectId === null) throw new SpoutError('Forbidden', { reason: 'the token has no project' })
  if (projectId !== principal.projectId && !isAdmin(principal))
    throw new SpoutError('Forbidden', { reason: 'only an administrator may name another project' })
  return projectId
}
