import type { Project, Role, User } from '@spout/model'

/** The members of a group of the provider have this role in this project. */
export interface Grant {
  readonly group: string
  /** Name of a project here. */
  readonly project: string
  readonly role: Role
}

/** The roles that a person's groups bring, each once. A grant in a project that does not exist brings none. */
export function rolesBy(
  grants: readonly Grant[],
  groups: readonly string[],
  projects: readonly Pick<Project, 'id' | 'name'>[],
): User['roles'] {
  const held = new Set(groups)
  const ids = new Map(projects.map(({ id, name }) => [name, id]))
  const roles = new Map<string, User['roles'][number]>()
  for (const { group, project, role } of grants) {
    const projectId = ids.get(project)
    if (held.has(group) && projectId !== undefined) roles.set(`${projectId} ${role}`, { projectId, role })
  }
  return [...roles.values()]
}
