import { ROLES, type Role } from '@spout/model'
import { withIncluded } from '../authn/roles.ts'
import type { KeystoneToken } from './keystone-token.ts'

/**
 * The role here that a role on Keystone's system corresponds to. The system's reader sees the load balancers of every
 * project, and changes none.
 */
const ON_SYSTEM: Readonly<Record<string, Role>> = {
  admin: 'admin',
  member: 'load-balancer_global_observer',
  reader: 'load-balancer_global_observer',
}

/**
 * A token's roles here: those of ours with the same name (Keystone's policies compare names without regard to case).
 * Roles on a domain are none.
 */
export function rolesOf({ project, system, roles }: KeystoneToken): readonly Role[] {
  const names = roles.map(({ name }) => name.toLowerCase())
  if (project !== undefined) return withIncluded(ROLES.filter((role) => names.includes(role)))
  if (system?.all !== true) return []
  return withIncluded(names.flatMap((name) => (Object.hasOwn(ON_SYSTEM, name) ? (ON_SYSTEM[name] ?? []) : [])))
}
