import type { Principal } from '@spout/admission/contract'
import type { Role } from '@spout/model'
import { policyForbidden } from './wire/fault.ts'

/**
 * Permissions, as Octavia's default roles define them: readers read their project, members write it, administrators do
 * everything everywhere. Identity maps the older `load-balancer_*` roles to these.
 */

const INCLUDES: Readonly<Record<Role, readonly Role[]>> = {
  admin: ['admin', 'member', 'reader'],
  member: ['member', 'reader'],
  // This role uses only the native API.
  balancer: [],
  reader: ['reader'],
}

const holds = ({ roles }: Principal, wanted: Role): boolean => roles.some((role) => INCLUDES[role].includes(wanted))

export const isAdmin = (principal: Principal): boolean => holds(principal, 'admin')

/** @throws OctaviaFault 403 without the role, or with a token that has no project */
export function requireRole(principal: Principal, role: Role): void {
  if (!holds(principal, role)) throw policyForbidden()
  if (principal.projectId === null && !isAdmin(principal)) throw policyForbidden()
}

/** Whether objects of this project are open to the caller. */
export const mayAccess = (principal: Principal, projectId: string): boolean =>
  isAdmin(principal) || projectId === principal.projectId

/**
 * @throws OctaviaFault 403 for a project that is not the caller's
 * @throws OctaviaFault 403 for another project than one's own
 */
export function listScope(principal: Principal, wanted: string | null): string | null {
  requireRole(principal, 'reader')
  if (isAdmin(principal)) return wanted
  if (wanted !== null && wanted !== principal.projectId) throw policyForbidden()
  return principal.projectId
}

/**
 * The project that a new load balancer belongs to.
 * @throws OctaviaFault 403 for a project that is not the caller's
 */
export function ownerOfNew(principal: Principal, wanted: string | null): string {
  requireRole(principal, 'member')
  const projectId = wanted ?? principal.projectId
  if (projectId === null || !mayAccess(principal, projectId)) throw policyForbidden()
  return projectId
}

/** @throws OctaviaFault 403, not 404: quotas are named by project, so there is no object to hide */
export function requireProject(principal: Principal, projectId: string): void {
  requireRole(principal, 'reader')
  if (!mayAccess(principal, projectId)) throw policyForbidden()
}
