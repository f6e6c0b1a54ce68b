import { createHash } from 'node:crypto'
import type { Role } from '@spout/model'

export const DOMAIN = { id: 'default', name: 'Default' } as const

/** A UUID derived from a name. */
export function stableUuid(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex')
  // RFC 9562 version 8: custom.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/**
 * Roles as Keystone shows them. Octavia's advanced roles map to ours where they mean the same. The others are listed,
 * because clients look them up, but granting one would give too much or too little, and is refused.
 */
const NAMES: Readonly<Record<string, Role | null>> = {
  admin: 'admin',
  member: 'member',
  balancer: 'balancer',
  reader: 'reader',
  'load-balancer_member': 'member',
  'load-balancer_observer': 'reader',
  'load-balancer_global_observer': null,
  'load-balancer_quota_admin': null,
  'load-balancer_admin': null,
}

export interface NamedRole {
  readonly id: string
  readonly name: string
  /** Our role; null if it cannot be granted. */
  readonly role: Role | null
}

export const NAMED_ROLES: readonly NamedRole[] = Object.entries(NAMES).map(([name, role]) => ({
  id: stableUuid(`role/${name}`),
  name,
  role,
}))

export const roleId = (role: Role): string => stableUuid(`role/${role}`)

export const shownRole = (role: Role) => ({ id: roleId(role), name: role })
