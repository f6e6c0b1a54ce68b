import { Name } from '../parts/name.tsx'
import { useSession } from '../session/session-context.ts'
import { useProjects } from './use-projects.ts'

/** A column that only operators have, who see the objects of all projects. */
export const useProjectHead = (): readonly string[] => (useSession().may.operate ? ['Project'] : [])

/** The cell of that column: whose the object of this row is. */
export function ProjectCell({ projectId }: { readonly projectId: string | null }) {
  const { may } = useSession()
  const { data: projects = [] } = useProjects({ enabled: may.operate })
  if (!may.operate) return null
  return (
    <td>
      <Name of={projects.find(({ id }) => id === projectId)?.name ?? ''} or={projectId ?? '–'} />
    </td>
  )
}
