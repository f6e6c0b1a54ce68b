import type { Preview } from '@spout/model'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { listCertificates } from '../../api/certificates.ts'
import { deleteLoadBalancer, readLoadBalancer } from '../../api/load-balancers.ts'
import { previewDeletion } from '../../api/previews.ts'
import { keys } from '../../api/query-keys.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { DeletionDialog } from '../../parts/deletion-dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Name } from '../../parts/name.tsx'
import { addressWords } from '../preview/preview-words.ts'
import styles from './delete-dialog.module.css'
import { type Released, releasedWith } from './released.ts'

interface Props {
  readonly id: string
  readonly name: string
  readonly onClose: () => void
}

/** Asks before a load balancer is deleted, and says what goes with it. */
export function DeleteDialog({ id, name, onClose }: Props) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const announce = useAnnounce()
  const read = useQuery({
    queryKey: keys.loadBalancer(id),
    queryFn: ({ signal }) => readLoadBalancer(id, signal),
  })
  // As it is now: what it releases may have changed since somebody looked last.
  const preview = useQuery({
    queryKey: keys.deletion(id),
    queryFn: ({ signal }) => previewDeletion(id, signal),
    staleTime: 0,
  })
  const deletion = useMutation({
    mutationFn: () => deleteLoadBalancer(id),
    onSuccess: async () => {
      announce(`${name} is deleted.`)
      await navigate({ to: '/load-balancers' })
      client.removeQueries({ queryKey: ['loadBalancer', id] })
      await client.invalidateQueries({ queryKey: ['rows'] })
    },
  })
  return (
    <DeletionDialog name={name} id={id} deletion={deletion} onClose={onClose}>
      <Loaded query={preview}>
        {(now) => <Loaded query={read}>{({ body }) => <ReleasedList of={releasedWith(body)} now={now} />}</Loaded>}
      </Loaded>
    </DeletionDialog>
  )
}

function ReleasedList({ of: { parts, certificateIds }, now }: { readonly of: Released; readonly now: Preview }) {
  const { data: certificates = [] } = useQuery({
    queryKey: keys.of('certificate'),
    queryFn: ({ signal }) => listCertificates(signal),
    enabled: certificateIds.length > 0,
  })
  const nameOf = (id: string): string => certificates.find((one) => one.id === id)?.name || id
  return (
    <ul className={styles.list}>
      {now.plan.connections.map(({ code, message }) => (
        <li key={code}>{message}</li>
      ))}
      <li>{parts} are deleted.</li>
      {now.addresses.map((one) => (
        <li key={one.address}>
          <strong>{one.address}</strong> {addressWords(one)}.
        </li>
      ))}
      {now.dnsNames.removed.length > 0 && (
        <li>
          Taken out of DNS: <Names of={now.dnsNames.removed} />
        </li>
      )}
      {certificateIds.length > 0 && (
        <li>
          Certificates stay: <Names of={certificateIds.map(nameOf)} />
        </li>
      )}
    </ul>
  )
}

const Names = ({ of }: { readonly of: readonly string[] }) =>
  of.map((name, at) => (
    <span key={name}>
      {at > 0 && ', '}
      <strong>
        <Name of={name} />
      </strong>
    </span>
  ))
