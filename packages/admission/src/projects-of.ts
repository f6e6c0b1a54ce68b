import { SpoutError } from '@spout/model'
import type { AdmissionContext } from './context.ts'

/** The stored form: absent for what is open to all projects. @throws SpoutError ReferenceNotFound */
export function checkedProjects(
  { view }: Pick<AdmissionContext, 'view'>,
  projectIds: readonly string[] | null | undefined,
): { readonly projectIds?: string[] } {
  if (projectIds === null || projectIds === undefined) return {}
  for (const [index, projectId] of projectIds.entries())
    if (view.get('project', projectId) === null)
      throw new SpoutError('ReferenceNotFound', { field: `projectIds[${index}]`, what: 'project', id: projectId })
  return { projectIds: [...new Set(projectIds)] }
}
