import type { ModelView } from '@spout/admission/contract'
import { type ApplicationCredential, SpoutError, type User } from '@spout/model'
import { isAssigned } from './roles.ts'

/** How a user is named: by id or by name. */
export type UserName = { readonly id: string } | { readonly name: string }

/** Null is an unscoped token, which may only ask who its user is. */
export type Scope = { readonly id: string } | { readonly name: string } | null

/** How an application credential is named: by id, or by its name and its user. */
export type CredentialName = { readonly id: string } | { readonly name: string; readonly user: UserName }

export function findUser(view: ModelView, wanted: UserName): User | null {
  if ('id' in wanted) return view.get('user', wanted.id)?.value ?? null
  return view.list('user').find((user) => user.name === wanted.name) ?? null
}

export function findCredential(view: ModelView, wanted: CredentialName): ApplicationCredential | null {
  if ('id' in wanted) return view.get('applicationCredential', wanted.id)?.value ?? null
  const owner = findUser(view, wanted.user)?.id
  return (
    view.list('applicationCredential').find((known) => known.userId === owner && known.name === wanted.name) ?? null
  )
}

/**
 * The requested project if it is enabled and the user has a role in it; null without a scope.
 * @throws SpoutError Unauthenticated
 */
export function scopedProject(view: ModelView, user: User, scope: Scope): string | null {
  if (scope === null) return null
  const project =
    'id' in scope
      ? view.get('project', scope.id)?.value
      : view.list('project').find((known) => known.name === scope.name)
  if (project?.enabled !== true || !isAssigned(user, project.id)) throw badCredentials()
  return project.id
}

/** The answer to every refused login, whatever was wrong. */
export const badCredentials = (): SpoutError =>
  new SpoutError('Unauthenticated', { reason: 'the user, password, credential or scope is not valid' })
