import type { Principal } from '@spout/admission/contract'
import type { KeystoneGrant, User } from '@spout/model'
import type { IdentityContext } from './context.ts'
import { NAMED_ROLES, roleId } from './role-names.ts'

/** A role as Keystone shows it. */
export interface ShownRole {
  readonly id: string
  readonly name: string
}

/** The roles that access checks use, and custom roles. */
export const everyRole = ({ view }: Pick<IdentityContext, 'view'>): readonly ShownRole[] => [
  ...NAMED_ROLES,
  ...view.list('customRole').map(({ id, name }) => ({ id, name })),
]

/** A user's grants; `projectId` null is the domain. */
export const grantsOf = (user: User): readonly KeystoneGrant[] => [
  ...user.roles.map(({ projectId, role }) => ({ roleId: roleId(role), projectId })),
  ...(user.keystoneGrants ?? []),
]

const isSame = (a: KeystoneGrant, b: KeystoneGrant): boolean => a.roleId === b.roleId && a.projectId === b.projectId

export const isGranted = (user: User, grant: KeystoneGrant): boolean =>
  grantsOf(user).some((known) => isSame(known, grant))

/** The user with this grant added; the same object if the user has it. */
export function withGrant(user: User, grant: KeystoneGrant): User {
  if (isGranted(user, grant)) return user
  const { roleId: id, projectId } = grant
  const named = NAMED_ROLES.find((role) => role.id === id)
  if (named === undefined || projectId === null)
    return { ...user, keystoneGrants: [...(user.keystoneGrants ?? []), grant] }
  return { ...user, roles: [...user.roles, { projectId, role: named.name }] }
}

export const withoutGrant = (user: User, grant: KeystoneGrant): User => ({
  ...user,
  roles: user.roles.filter(({ projectId, role }) => !isSame({ projectId, roleId: roleId(role) }, grant)),
  ...(user.keystoneGrants && { keystoneGrants: user.keystoneGrants.filter((known) => !isSame(known, grant)) }),
})

/** Custom roles of the token's user in its project. */
export function customRolesOf({ view }: Pick<IdentityContext, 'view'>, principal: Principal): readonly ShownRole[] {
  const grants = view.get('user', principal.userId)?.value.keystoneGrants ?? []
  return grants
    .filter(({ projectId }) => projectId !== null && projectId === principal.projectId)
    .flatMap((grant) => view.get('customRole', grant.roleId)?.value ?? [])
    .map(({ id, name }) => ({ id, name }))
}
