import type { Principal } from '@spout/admission/contract'
import { isAdmin } from '../authn/access.ts'

/**
 * The share that everything of a caller counts to: requests, streams, bytes, and turns of long answers. It is that of
 * the token's project. Operators have one of their own in each project, because they must be able to repair what
 * tenants cannot.
 */
export const shareOf = (principal: Principal): string => {
  if (isAdmin(principal)) return `operator ${principal.userId}`
  return principal.projectId === null ? `user ${principal.userId}` : `project ${principal.projectId}`
}
