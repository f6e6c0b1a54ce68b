import { SpoutError } from '@spout/model'
import type { AdmissionContext } from './context.ts'

/** @param field that names the project. @throws SpoutError ReferenceNotFound unless it exists */
export function requireProject({ view }: Pick<AdmissionContext, 'view'>, id: string, field = 'projectId'): void {
  if (view.get('project', id) === null) throw new SpoutError('ReferenceNotFound', { field, what: 'project', id })
}

/** The stored form: absent for what is open to all projects. @throws SpoutError ReferenceNotFound */
export function checkedProjects(
  context: Pick<AdmissionContext, 'view'>,
  projectIds: readonly string[] | null | undefined,
): { readonly projectIds?: string[] } {
  if (projectIds === null || projectIds === undefined) return {}
  for (const [index, id] of projectIds.entries()) requireProject(context, id, `projectIds[${index}]`)
  return { projectIds: [...new Set(projectIds)] }
}
