import type { Principal } from '@spout/admission/contract'
import { isAdmin } from '../authn/access.ts'

/**
 * The share that everything somebody asks for counts to: requests, streams, bytes, and turns of long answers. A tenant's
 * is that of the token's project. An operator mends what tenants cannot, so he has one of his own in every project.
 */
export const shareOf = (principal: Principal): string => {
  if (isAdmin(principal)) return `operator ${principal.userId}`
  return principal.projectId === null ? `user ${principal.userId}` : `project ${principal.projectId}`
}
