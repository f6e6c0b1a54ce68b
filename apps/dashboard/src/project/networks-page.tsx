import type { Address, Network } from '@spout/model'
import { useQuery } from '@tanstack/react-query'
import type { FC } from 'react'
import { listAddresses } from '../api/addresses.ts'
import { listNetworks } from '../api/networks.ts'
import { keys } from '../api/query-keys.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Name } from '../parts/name.tsx'
import { Page } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'
import { AddressTable } from './address-table.tsx'
import styles from './project.module.css'
import { ProjectCell, useProjectHead } from './project-cell.tsx'

/** The networks that members are in, and the addresses that the project has. */
export const NetworksPage: FC = () => {
  const networks = useQuery({ queryKey: keys.of('network'), queryFn: ({ signal }) => listNetworks(signal) })
  const addresses = useQuery({ queryKey: keys.of('address'), queryFn: ({ signal }) => listAddresses(signal) })
  return (
    <Page title="Networks">
      <Loaded query={networks}>
        {(all) => (
          <>
            {all.length === 0 ? <NoNetworks /> : <NetworkTable networks={all} />}
            <Loaded query={addresses}>{(held) => <Addresses of={held} networks={all} />}</Loaded>
          </>
        )}
      </Loaded>
    </Page>
  )
}

const Addresses = ({ of, networks }: { readonly of: readonly Address[]; readonly networks: readonly Network[] }) => {
  const own = of.filter(({ quarantineUntil, projectId }) => quarantineUntil === null && projectId !== null)
  if (own.length === 0) return null
  return (
    <section className={styles.part}>
      <h2>Addresses</h2>
      <AddressTable addresses={own} networks={networks} />
    </section>
  )
}

const BACK: Readonly<Record<Network['returnPath'], string>> = {
  gateway: 'gateway: through the nodes',
  snat: "snat: to a node's address",
  dsr: 'dsr: straight to clients',
  node: 'node: on the node itself',
}

const HEAD = ['Network', 'Subnets', 'Members reply', 'Segment', 'Routes']

/** Networks; for operators, who see those of all projects, with the project. */
function NetworkTable({ networks }: { readonly networks: readonly Network[] }) {
  const project = useProjectHead()
  return (
    <Table label="Networks" head={[...HEAD, ...project]}>
      {networks.map(({ id, name, subnets, returnPath, segment, routes, projectId }) => (
        <tr key={id}>
          <th scope="row">
            <Name of={name} or={id} />
          </th>
          <td>{subnets.map(({ cidr }) => cidr).join(', ') || 'none'}</td>
          <td>{BACK[returnPath]}</td>
          <td>
            {segment.physicalNetwork}
            {segment.vlan !== null && `, VLAN ${segment.vlan}`}
          </td>
          <td>{routes.length || '–'}</td>
          <ProjectCell projectId={projectId} />
        </tr>
      ))}
    </Table>
  )
}

const CREATE = `spout network create web
spout subnet create web members --cidr 10.0.0.0/24 --gateway 10.0.0.1`

const NoNetworks = () => (
  <EmptyState title="No networks yet" commands={[{ title: 'Create one', text: CREATE }]}>
    A network says where the members of load balancers are, and how their replies reach clients.
  </EmptyState>
)
