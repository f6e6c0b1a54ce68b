import { type CustomRole, customRole, parseAs, ROLES, SpoutError } from '@spout/model'
import type { Claim } from '../claims/claims.ts'
import {
  type AdmissionContext,
  deleteOf,
  find,
  newMeta,
  putNew,
  putOver,
  timestampOf,
  transact,
} from '../claims/context.ts'

/** Creates a role that nothing depends on. @throws SpoutError NameTaken */
export async function createCustomRole(
  context: AdmissionContext,
  { name, description }: Pick<CustomRole, 'name' | 'description'>,
): Promise<CustomRole> {
  return transact(context, (claim) => {
    const { view } = context
    const wanted = parseAs(customRole, newMeta(context, { name, description }))
    refuseTakenName(view, claim, name)
    return { writes: [putNew('customRole', wanted)], result: wanted }
  })
}

/** Renames or describes a custom role. Its users keep it: they have it by its id. @throws SpoutError NameTaken */
export async function changeCustomRole(
  context: AdmissionContext,
  id: string,
  change: Partial<Pick<CustomRole, 'name' | 'description'>>,
): Promise<CustomRole> {
  return transact(context, (claim) => {
    const stored = find(context, 'customRole', id, 'role')
    const next = parseAs(customRole, { ...stored.value, ...change, updatedAt: timestampOf(context.now()) })
    if (next.name !== stored.value.name) refuseTakenName(context.view, claim, next.name)
    return { writes: [putOver('customRole', stored, next)], result: next }
  })
}

function refuseTakenName(view: AdmissionContext['view'], claim: Claim, name: string): void {
  const taken = [...ROLES, ...view.list('customRole').map((role) => role.name)].includes(name)
  if (taken || !claim.name(`role/${name}`)) throw new SpoutError('NameTaken', { field: 'name', what: 'a role', name })
}

/** Deletes a custom role, and takes it from its users. */
export async function deleteCustomRole(context: AdmissionContext, id: string): Promise<void> {
  await transact(context, () => {
    const { view } = context
    const stored = find(context, 'customRole', id, 'role')
    const updatedAt = timestampOf(context.now())
    const holders = view.list('user').flatMap((user) => {
      const keystoneGrants = user.keystoneGrants?.filter((grant) => grant.roleId !== id)
      const known = keystoneGrants?.length === user.keystoneGrants?.length ? null : view.get('user', user.id)
      return known === null ? [] : [putOver('user', known, { ...known.value, keystoneGrants, updatedAt })]
    })
    return { writes: [deleteOf('customRole', stored), ...holders], result: undefined }
  })
}
