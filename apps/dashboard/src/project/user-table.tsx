import type { Project } from '@spout/model'
import { useQuery } from '@tanstack/react-query'
import { keys } from '../api/query-keys.ts'
import { listUsers } from '../api/users.ts'
import { Badge } from '../parts/badge.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Name } from '../parts/name.tsx'
import { command } from '../parts/shell-word.ts'
import { Table } from '../parts/table.tsx'

interface Props {
  readonly project: Pick<Project, 'id' | 'name'>
}

/** Who has a role in a project. For operators. */
export function UserTable({ project: { id: projectId, name } }: Props) {
  const users = useQuery({ queryKey: keys.of('user'), queryFn: ({ signal }) => listUsers(signal) })
  return (
    <Loaded query={users}>
      {(all) => {
        const own = all
          .map((user) => ({ user, roles: user.roles.filter((role) => role.projectId === projectId) }))
          .filter(({ roles }) => roles.length > 0)
        if (own.length === 0) return <NoUsers project={name || projectId} />
        return (
          <Table label="Users" head={['User', 'Roles', 'State']}>
            {own.map(({ user, roles }) => (
              <tr key={user.id}>
                <th scope="row">
                  <Name of={user.name} or={user.id} />
                </th>
                <td>{roles.map(({ role }) => role).join(', ')}</td>
                <td>
                  <Badge tone={user.enabled ? 'ok' : 'quiet'}>{user.enabled ? 'enabled' : 'disabled'}</Badge>
                </td>
              </tr>
            ))}
          </Table>
        )
      }}
    </Loaded>
  )
}

const NoUsers = ({ project }: { readonly project: string }) => (
  <EmptyState
    title="No users yet"
    commands={[{ title: 'Create one', text: command(['spout', 'user', 'create', 'ada'], [['--project', project]]) }]}
  >
    A user logs in with a password that is shown once, and has one role in the project: reader, balancer, member or
    admin. Users of an outside Keystone are not listed here.
  </EmptyState>
)
