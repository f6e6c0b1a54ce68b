import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FC, useState } from 'react'
import { deleteCertificate, listCertificates, type ShownCertificate } from '../api/certificates.ts'
import { keys } from '../api/query-keys.ts'
import { useAnnounce } from '../parts/announcer.tsx'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { DeletionDialog } from '../parts/deletion-dialog.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Name } from '../parts/name.tsx'
import { Page } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { ProjectCell, useProjectHead } from '../project/project-cell.tsx'
import { useSession } from '../session/session-context.ts'
import styles from './certificates-page.module.css'
import { UploadDialog } from './upload-dialog.tsx'
import { UsedBy, Users, useUsersOf } from './used-by.tsx'

/** The certificates of the project: until when they are valid, and what uses them. */
export const CertificatesPage: FC = () => {
  const { may } = useSession()
  const [isUploading, setUploading] = useState(false)
  const certificates = useQuery({
    queryKey: keys.of('certificate'),
    queryFn: ({ signal }) => listCertificates(signal),
  })
  const upload = may.balance && (
    <Button variant="primary" onPress={() => setUploading(true)}>
      Upload certificate
    </Button>
  )
  return (
    <Page title="Certificates" actions={upload}>
      <Loaded query={certificates}>
        {(all) => (all.length === 0 ? <NoCertificate /> : <CertificateTable all={bySoonest(all)} />)}
      </Loaded>
      {isUploading && <UploadDialog onClose={() => setUploading(false)} />}
    </Page>
  )
}

const bySoonest = (all: readonly ShownCertificate[]): readonly ShownCertificate[] =>
  all.toSorted((a, b) => (a.notAfter < b.notAfter ? -1 : 1))

const NoCertificate = () => (
  <EmptyState
    title="No certificates yet"
    commands={[{ title: 'spout', text: 'spout certificate create shop --chain fullchain.pem --key privkey.pem' }]}
  >
    A listener of protocol HTTPS shows a certificate to its clients. The private key is sealed when it arrives, and
    never shown again.
  </EmptyState>
)

const STATES: Readonly<Record<ShownCertificate['status']['state'], readonly [Tone, string]>> = {
  valid: ['ok', 'valid'],
  'not-yet-valid': ['warn', 'not yet valid'],
  expiring: ['warn', 'expires soon'],
  expired: ['bad', 'expired'],
}

const USES: Readonly<Record<ShownCertificate['use'], string>> = {
  keyed: 'with key',
  authorities: 'authorities',
  revocations: 'revocation lists',
  users: 'users',
}

function CertificateTable({ all }: { readonly all: readonly ShownCertificate[] }) {
  const { may } = useSession()
  const project = useProjectHead()
  const [doomed, setDoomed] = useState<ShownCertificate | null>(null)
  return (
    <>
      <Table
        label="Certificates"
        head={['Name', 'For', 'State', 'Expires', 'Used by', ...project, ...(may.balance ? ['Actions'] : [])]}
      >
        {all.map((certificate) => {
          const { id, name, names, use, status, notAfter, keyType, subject, projectId } = certificate
          const [tone, word] = STATES[status.state]
          return (
            <tr key={id}>
              <th scope="row">
                <Name of={name} or={id} />
                <span className={styles.more}>
                  {USES[use]}
                  {use === 'keyed' && `, ${keyType}`}
                </span>
              </th>
              <td className={styles.names}>
                <bdi>{names.join(', ') || subject || '–'}</bdi>
              </td>
              <td>
                <span title={status.message}>
                  <Badge tone={tone}>{word}</Badge>
                </span>
              </td>
              <td>{use === 'users' ? '–' : <Time at={notAfter} isAhead />}</td>
              <td>
                <UsedBy certificateId={id} />
              </td>
              <ProjectCell projectId={projectId} />
              {may.balance && (
                <td>
                  <Button variant="quiet" aria-label={`Delete ${name || id}`} onPress={() => setDoomed(certificate)}>
                    Delete
                  </Button>
                </td>
              )}
            </tr>
          )
        })}
      </Table>
      {doomed !== null && <DeleteDialog certificate={doomed} onClose={() => setDoomed(null)} />}
    </>
  )
}

interface DeleteProps {
  readonly certificate: ShownCertificate
  readonly onClose: () => void
}

function DeleteDialog({ certificate: { id, name }, onClose }: DeleteProps) {
  const client = useQueryClient()
  const announce = useAnnounce()
  const { users = [], isReading } = useUsersOf(id, 'always')
  const deletion = useMutation({
    mutationFn: () => deleteCertificate(id),
    onSuccess: async () => {
      announce(`${name || id} is deleted.`)
      onClose()
      await client.invalidateQueries({ queryKey: keys.of('certificate') })
    },
  })
  const isUsed = !isReading && users.length > 0
  return (
    <DeletionDialog
      name={name}
      id={id}
      deletion={isUsed ? null : { ...deletion, isPending: deletion.isPending || isReading }}
      onClose={onClose}
    >
      {isUsed ? (
        <p>
          It cannot be deleted while it is used by <Users of={users} />. Give them another one first.
        </p>
      ) : (
        <p>Its key cannot be read back.</p>
      )}
    </DeletionDialog>
  )
}
