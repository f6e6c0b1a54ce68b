import { useMutation, useQueryClient } from '@tanstack/react-query'
import { keys } from '../api/query-keys.ts'
import { MenuButton } from '../parts/menu-button.tsx'
import { Name } from '../parts/name.tsx'
import { logOut, switchProject } from './session-calls.ts'
import { useSession } from './session-context.ts'

/** The user's name and project, with the other projects and the way out. */
export function SessionMenu() {
  const { userName, projectName, projectId, projects } = useSession()
  const client = useQueryClient()
  const choice = useMutation({
    mutationFn: switchProject,
    onSuccess: (session) => client.setQueryData(keys.session, session),
  })
  const leave = useMutation({ mutationFn: logOut, onSettled: () => client.resetQueries() })
  return (
    <MenuButton
      label={`${projectName ?? ''} ${userName}: switch project or log out`}
      sections={[
        {
          title: 'Project',
          items: projects.map(({ id, name }) => ({ id, text: name, isCurrent: id === projectId })),
        },
        { title: userName, items: [{ id: 'log-out', text: 'Log out' }] },
      ]}
      onAction={(id) => (id === 'log-out' ? leave.mutate() : id === projectId || choice.mutate(id))}
    >
      <Name of={projectName ?? ''} /> <Name of={userName} />
    </MenuButton>
  )
}
