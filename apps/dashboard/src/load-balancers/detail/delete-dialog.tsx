import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { listCertificates } from '../../api/certificates.ts'
import { deleteLoadBalancer, readLoadBalancer } from '../../api/load-balancers.ts'
import { keys } from '../../api/query-keys.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { DeletionDialog } from '../../parts/deletion-dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Name } from '../../parts/name.tsx'
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
      <Loaded query={read}>{({ body }) => <ReleasedList of={releasedWith(body)} />}</Loaded>
    </DeletionDialog>
  )
}

function ReleasedList({ of: { addresses, names, parts, certificateIds } }: { readonly of: Released }) {
  const { data: certificates = [] } = useQuery({
    queryKey: keys.of('certificate'),
    queryFn: ({ signal }) => listCertificates(signal),
    enabled: certificateIds.length > 0,
  })
  const nameOf = (id: string): string => certificates.find((one) => one.id === id)?.name || id
  return (
    <ul className={styles.list}>
      <li>Connections to it end at once. {parts} are deleted.</li>
      <li>
        Released, and soon free for others: <Names of={addresses} />
      </li>
      {names.length > 0 && (
        <li>
          Taken out of DNS: <Names of={names} />
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
