import { createHash } from 'node:crypto'
import { ROLES, type Role } from '@spout/model'

export const DOMAIN = { id: 'default', name: 'Default' } as const

/** A UUID derived from a name. */
export function stableUuid(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex')
  // RFC 9562 version 8: custom.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export const roleId = (role: Role): string => stableUuid(`role/${role}`)

export const shownRole = (role: Role) => ({ id: roleId(role), name: role })

/** The roles that access checks use. All others are custom roles. */
export const NAMED_ROLES: readonly { readonly id: string; readonly name: Role }[] = ROLES.map(shownRole)
