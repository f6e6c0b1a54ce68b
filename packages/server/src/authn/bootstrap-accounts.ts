import type { Admission, ModelView } from '@spout/admission/contract'
import type { User } from '@spout/model'
import type { Clock } from '@spout/runtime'
import { userNameOf } from './authenticator.ts'
import { ensureClusterProject } from './ensure-project.ts'
import { newUser } from './new-user.ts'
import type { KnownAccount } from './service-accounts.ts'

/**
 * Ensures that each account is a user with exactly its role in its project, and that the project exists. Users of
 * accounts that were removed lose their roles.
 */
export async function bootstrapAccounts(
  { admission, view, clock }: { readonly admission: Admission; readonly view: ModelView; readonly clock: Clock },
  accounts: readonly KnownAccount[],
): Promise<void> {
  for (const { account, role, projectName } of accounts) {
    const { id: projectId } = await ensureClusterProject({ admission, view }, projectName)
    await setRoles({ admission, view, clock }, userNameOf(account), [{ projectId, role }])
  }
  const names = new Set(accounts.map(({ account }) => userNameOf(account)))
  for (const { name, description, roles } of view.list('user'))
    if (description === OURS && !names.has(name) && roles.length > 0)
      await setRoles({ admission, view, clock }, name, [])
}

/** The description by which the users that are created here are recognised. */
const OURS = 'Service account of the cluster that Spout is in'

/** Gives a user exactly these roles. The user is created if absent. */
async function setRoles(
  { admission, view, clock }: { readonly admission: Admission; readonly view: ModelView; readonly clock: Clock },
  name: string,
  roles: User['roles'],
): Promise<void> {
  const known = view.list('user').find((user) => user.name === name)
  if (known !== undefined && JSON.stringify(known.roles) === JSON.stringify(roles)) return
  const user = known ?? newUser({ name, description: OURS }, clock)
  await admission.putUser({ ...user, roles, updatedAt: known === undefined ? null : clock.now().toISOString() })
}
