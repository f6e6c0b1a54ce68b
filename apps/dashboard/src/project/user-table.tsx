import { useQuery } from '@tanstack/react-query'
import { keys } from '../api/query-keys.ts'
import { listUsers } from '../api/users.ts'
import { Badge } from '../parts/badge.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Name } from '../parts/name.tsx'
import { Table } from '../parts/table.tsx'
import styles from './project.module.css'

/** Who has a role in a project. For operators. */
export function UserTable({ projectId }: { readonly projectId: string }) {
  const users = useQuery({ queryKey: keys.of('user'), queryFn: ({ signal }) => listUsers(signal) })
  return (
    <Loaded query={users}>
      {(all) => {
        const own = all
          .map((user) => ({ user, roles: user.roles.filter((role) => role.projectId === projectId) }))
          .filter(({ roles }) => roles.length > 0)
        if (own.length === 0) return <p className={styles.soft}>No user of Spout&#39;s own has a role in it.</p>
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
