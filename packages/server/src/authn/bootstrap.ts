import type { Admission, ModelView } from '@spout/admission/contract'
import type { User } from '@spout/model'
import type { Clock, Secret } from '@spout/runtime'
import { ensureProject } from './ensure-project.ts'
import { LOCAL_ADDRESS } from './login-source.ts'
import { newUser } from './new-user.ts'
import type { Passwords } from './password.ts'

export interface FirstAdmin {
  readonly projectName: string
  readonly userName: string
  readonly password: Secret<string>
}

/**
 * Ensures that the configured administrator exists, with that password and the admin role in that project. It writes
 * only what differs. The configuration wins over a password that was changed meanwhile.
 */
export async function bootstrap(
  parts: {
    readonly admission: Admission
    readonly view: ModelView
    readonly passwords: Passwords
    readonly clock: Clock
  },
  admin: FirstAdmin,
): Promise<{ readonly projectId: string; readonly userId: string }> {
  const { admission, view, passwords, clock } = parts
  const project = await ensureProject({ admission, view }, { name: admin.projectName, description: 'Administration' })
  const asker = { user: admin.userName, source: LOCAL_ADDRESS }
  const known = view.list('user').find((user) => user.name === admin.userName)
  const hasRole = known?.roles.some((grant) => grant.projectId === project.id && grant.role === 'admin') === true
  const hasPassword =
    known !== undefined && (await passwords.verify(admin.password.reveal(), known.passwordHash, asker))
  if (known?.enabled === true && hasRole && hasPassword) return { projectId: project.id, userId: known.id }
  const user: User = {
    ...(known ?? newUser({ name: admin.userName, description: 'Administrator' }, clock)),
    enabled: true,
    passwordHash:
      hasPassword && known !== undefined ? known.passwordHash : await passwords.hash(admin.password.reveal(), asker),
    roles:
      hasRole && known !== undefined
        ? known.roles
        : [...(known?.roles ?? []), { projectId: project.id, role: 'admin' }],
    updatedAt: known === undefined ? null : clock.now().toISOString(),
  }
  await admission.putUser(user)
  return { projectId: project.id, userId: user.id }
}
