import type { Principal } from '@spout/admission/contract'
import type { Role } from '@spout/model'
import { policyForbidden } from './wire/fault.ts'

/**
 * Who may do what, as Octavia's default roles say: readers read their project, members write it, administrators do
 * everything everywhere. The older `load-balancer_*` roles arrive as one of these: identity maps them.
 */

const INCLUDES: Readonly<Record<Role, readonly Role[]>> = {
  admin: ['admin', 'member', 'reader'],
  member: ['member', 'reader'],
  // Its words are the native API's.
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

/** Whether objects of this project exist for who asks. */
export const mayKnow = (principal: Principal, projectId: string): boolean =>
  isAdmin(principal) || projectId === principal.projectId

/**
 * The project that a list shows; null for all of them.
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
 * @throws OctaviaFault 403 for another project than one's own
 */
export function ownerOfNew(principal: Principal, wanted: string | null): string {
  requireRole(principal, 'member')
  const projectId = wanted ?? principal.projectId
  if (projectId === null || !mayKnow(principal, projectId)) throw policyForbidden()
  return projectId
}

/** @throws OctaviaFault 403: quotas are asked by project, so there is no object to hide */
export function requireProject(principal: Principal, projectId: string): void {
  requireRole(principal, 'reader')
  if (!mayKnow(principal, projectId)) throw policyForbidden()
}
