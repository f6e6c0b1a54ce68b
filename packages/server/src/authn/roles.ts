import { ROLES, type Role, type User } from '@spout/model'

/** Each role and what it includes. */
const INCLUDES: Readonly<Record<Role, readonly Role[]>> = {
  admin: ['admin', 'member', 'reader'],
  member: ['member', 'reader'],
  balancer: ['balancer'],
  reader: ['reader'],
}

/** The given roles and those they include, strongest first. */
export const withIncluded = (roles: readonly Role[]): readonly Role[] =>
  ROLES.filter((role) => roles.some((given) => INCLUDES[given].includes(role)))

/** Whether these roles, with the roles they include, contain the wanted one: a `member` may balance. */
export const holds = (roles: readonly Role[], wanted: Role): boolean =>
  roles.includes(wanted) || (wanted === 'balancer' && roles.includes('member'))

/** A user's roles in a project, with the roles they include. */
export const rolesOn = (user: User, projectId: string): readonly Role[] =>
  withIncluded(user.roles.filter((grant) => grant.projectId === projectId).map((grant) => grant.role))
