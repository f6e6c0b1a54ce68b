import type { PageSession } from '@spout/model'
import { VERSION } from '@spout/runtime/version'
import { staysInProject } from '../../authn/balancer.ts'
import type { Session } from '../../authn/issued-tokens.ts'
import { isAssigned, rolesOn } from '../../authn/roles.ts'
import type { NativeContext } from '../operations/context.ts'

/** @param isForeign whether the token is Keystone's, which alone can exchange it */
export function shownSession(context: NativeContext, session: Session, isForeign: boolean): PageSession {
  const { userId, userName, projectId, roles, expiresAt } = session.principal
  const projectName = projectId === null ? null : (context.view.get('project', projectId)?.value.name ?? null)
  const own = projectId === null ? [] : [{ id: projectId, name: projectName ?? '', roles: [...roles] }]
  return {
    ...{ userId, userName, projectId, projectName, roles: [...roles], expiresAt },
    projects: isForeign || staysInProject(session) ? own : projectsOf(context, userId),
    version: VERSION,
    publicUrl: context.page.publicUrl,
    keystone: context.page.foreign !== null,
  }
}

function projectsOf({ view }: NativeContext, userId: string): PageSession['projects'] {
  const user = view.get('user', userId)?.value
  if (user === undefined) return []
  return view
    .list('project')
    .filter(({ id, enabled }) => enabled && isAssigned(user, id))
    .map(({ id, name }) => ({ id, name, roles: [...rolesOn(user, id)] }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
}
