import type { Address, Network } from '@spout/model'
import { Link } from '@tanstack/react-router'
import { Name } from '../parts/name.tsx'
import { Table } from '../parts/table.tsx'
import styles from './project.module.css'

/** More are not shown. */
const MOST = 300

interface Props {
  readonly addresses: readonly Address[]
  readonly networks: readonly Network[]
}

/** Addresses in use, with what uses them. */
export const AddressTable = ({ addresses, networks }: Props) => (
  <>
    <Table label="Addresses" head={['Address', 'Used as', 'From', 'Used by']}>
      {addresses.slice(0, MOST).map(({ portId, address, use, scope, holderId, ownerId }) => (
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
                load balancer
              </Link>
            ) : ownerId === null ? (
              'nothing'
            ) : (
              use
            )}
          </td>
        </tr>
      ))}
    </Table>
    {addresses.length > MOST && <p className={styles.soft}>and {(addresses.length - MOST).toLocaleString()} more</p>}
  </>
)
