import type { Admission, ModelView } from '@spout/admission/contract'
import type { Project } from '@spout/model'

interface ProjectParts {
  readonly admission: Admission
  readonly view: ModelView
}

/** The project of this name. It is created if absent, and otherwise left unchanged. */
export async function ensureProject(
  { admission, view }: ProjectParts,
  draft: Pick<Project, 'name' | 'description'>,
): Promise<Project> {
  return view.list('project').find(({ name }) => name === draft.name) ?? (await admission.createProject(draft))
}

/** A project for the own needs of the cluster that Spout runs in. */
export const ensureClusterProject = (parts: ProjectParts, name: string): Promise<Project> =>
  ensureProject(parts, { name, description: 'Of the cluster that Spout is in' })
