import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteCredential, listCredentials, type ShownCredential } from '../api/application-credentials.ts'
import { keys } from '../api/query-keys.ts'
import { useAnnounce } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { DeletionDialog } from '../parts/deletion-dialog.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Name } from '../parts/name.tsx'
import { Card } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { CredentialDialog } from './credential-dialog.tsx'
import styles from './project.module.css'

/** The user's own application credentials for the project: what programs log in with. */
export function CredentialCard() {
  const [isCreating, setCreating] = useState(false)
  const [doomed, setDoomed] = useState<ShownCredential | null>(null)
  const credentials = useQuery({
    queryKey: keys.of('applicationCredential'),
    queryFn: ({ signal }) => listCredentials(signal),
  })
  return (
    <Card title="Application credentials">
      <p className={styles.soft}>
        Programs log in with them, so that they need not know your password. They are yours alone, for this project.
      </p>
      <Loaded query={credentials}>
        {(all) =>
          all.length === 0 ? (
            <p>You have none yet.</p>
          ) : (
            <Table label="Application credentials" head={['Name', 'Id', 'Roles', 'Expires', 'Actions']}>
              {all.map((credential) => (
                <tr key={credential.id}>
                  <th scope="row">
                    <Name of={credential.name} or={credential.id} />
                  </th>
                  <td>
                    <code>{credential.id}</code>
                  </td>
                  <td>{credential.roles.join(', ')}</td>
                  <td>
                    <Time at={credential.expiresAt} isAhead />
                  </td>
                  <td>
                    <Button
                      variant="quiet"
                      aria-label={`Delete ${credential.name}`}
                      onPress={() => setDoomed(credential)}
                    >
                      Delete
                    </Button>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
      <div>
        <Button onPress={() => setCreating(true)}>Create application credential</Button>
      </div>
      {isCreating && <CredentialDialog onClose={() => setCreating(false)} />}
      {doomed !== null && <DeleteDialog credential={doomed} onClose={() => setDoomed(null)} />}
    </Card>
  )
}

interface DeleteProps {
  readonly credential: ShownCredential
  readonly onClose: () => void
}

function DeleteDialog({ credential: { id, name }, onClose }: DeleteProps) {
  const client = useQueryClient()
  const announce = useAnnounce()
  const deletion = useMutation({
    mutationFn: () => deleteCredential(id),
    onSuccess: async () => {
      announce(`${name} is deleted.`)
      onClose()
      await client.invalidateQueries({ queryKey: keys.of('applicationCredential') })
    },
  })
  return (
    <DeletionDialog name={name} id={id} deletion={deletion} onClose={onClose}>
      <p>Programs that log in with it are logged out at once.</p>
    </DeletionDialog>
  )
}
