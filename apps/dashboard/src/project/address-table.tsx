import type { Address, Network } from '@spout/model'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { listRows } from '../api/load-balancers.ts'
import { keys } from '../api/query-keys.ts'
import { Name } from '../parts/name.tsx'
import { Table } from '../parts/table.tsx'
import styles from './project.module.css'
import { ProjectCell, useProjectHead } from './project-cell.tsx'

/** More are not shown. */
const MOST = 300

interface Props {
  readonly addresses: readonly Address[]
  readonly networks: readonly Network[]
}

/** Addresses in use, with what uses them. */
export function AddressTable({ addresses, networks }: Props) {
  const { data: rows = [] } = useQuery({
    queryKey: keys.rows(null),
    queryFn: ({ signal }) => listRows(null, signal),
    structuralSharing: false,
  })
  const project = useProjectHead()
  const names = useMemo(() => new Map(rows.map(({ id, name }) => [id, name])), [rows])
  return (
    <>
      <Table label="Addresses" head={['Address', 'Used as', 'From', 'Used by', ...project]}>
        {addresses.slice(0, MOST).map(({ portId, address, use, scope, holderId, ownerId, projectId }) => (
          <tr key={portId}>
            <th scope="row">{address}</th>
            <td>{use}</td>
            <td>
              {scope === 'fabric' ? (
                'pool'
              ) : (
                <>
                  network <Name of={networks.find(({ id }) => id === holderId)?.name ?? ''} or={holderId} />
                </>
              )}
            </td>
            <td>
              {use === 'vip' && ownerId !== null ? (
                <Link to="/load-balancers/$id" params={{ id: ownerId }}>
                  <Name of={names.get(ownerId) ?? ''} or="load balancer" />
                </Link>
              ) : ownerId === null ? (
                'nothing'
              ) : (
                use
              )}
            </td>
            <ProjectCell projectId={projectId} />
          </tr>
        ))}
      </Table>
      {addresses.length > MOST && <p className={styles.soft}>and {(addresses.length - MOST).toLocaleString()} more</p>}
    </>
  )
}
