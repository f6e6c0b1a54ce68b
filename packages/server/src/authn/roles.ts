import { ROLES, type Role, type User } from '@spout/model'

/** Each role and the others that it includes, as Keystone's implied roles. */
const INCLUDES: Readonly<Partial<Record<Role, readonly Role[]>>> = { admin: ['member', 'reader'], member: ['reader'] }

/**
 * The role in other APIs that corresponds to a role of Octavia, since load balancers need networks, addresses and
 * certificates.
 */
const COUNTS_AS: Readonly<Partial<Record<Role, Role>>> = {
  'load-balancer_admin': 'reader',
  'load-balancer_member': 'member',
  'load-balancer_quota_admin': 'reader',
  'load-balancer_global_observer': 'reader',
  'load-balancer_observer': 'reader',
}

/** The given roles and those they include, strongest first. */
export const withIncluded = (roles: readonly Role[]): readonly Role[] =>
  ROLES.filter((role) => roles.some((given) => given === role || INCLUDES[given]?.includes(role)))

/** Whether somebody with these roles may hand on the wanted one. A `member` may also hand on `balancer`. */
export const holds = (roles: readonly Role[], wanted: Role): boolean =>
  roles.includes(wanted) || (wanted === 'balancer' && outsideOctavia(roles).includes('member'))

/** Whether these roles, with the roles that they include, allow what needs the wanted one. */
export const suffice = (roles: readonly Role[], wanted: Role): boolean => holds(outsideOctavia(roles), wanted)

const outsideOctavia = (roles: readonly Role[]): readonly Role[] =>
  withIncluded(roles.map((role) => COUNTS_AS[role] ?? role))

/** Whether a user has any role in a project, custom ones included. */
export const isAssigned = (user: User, projectId: string): boolean =>
  [...user.roles, ...(user.keystoneGrants ?? [])].some((grant) => grant.projectId === projectId)

/** A user's roles in a project, with the roles they include. */
export const rolesOn = (user: User, projectId: string): readonly Role[] =>
  withIncluded(user.roles.filter((grant) => grant.projectId === projectId).map((grant) => grant.role))
