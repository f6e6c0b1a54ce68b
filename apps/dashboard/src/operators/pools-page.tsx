import type { FC } from 'react'
import { EmptyState } from '../parts/empty-state.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { useProjects } from '../project/use-projects.ts'
import { OperatorsOnly } from './operators-only.tsx'
import { PoolCard } from './pool-card.tsx'
import { useAddressPools } from './pool-reads.ts'

/** The pools of public addresses: what is free, taken or rests, and by whom. */
export const PoolsPage: FC = () => (
  <OperatorsOnly>
    <Page title="Address pools">
      <Pools />
    </Page>
  </OperatorsOnly>
)

function Pools() {
  const pools = useAddressPools()
  const { data: projects = [] } = useProjects()
  const names = new Map(projects.map(({ id, name }) => [id, name]))
  return (
    <Loaded query={pools}>
      {(all) =>
        all.length === 0 ? <NoPools /> : all.map((pool) => <PoolCard key={pool.id} pool={pool} projects={names} />)
      }
    </Loaded>
  )
}

const NoPools = () => (
  <EmptyState
    title="No address pools yet"
    commands={[
      {
        title: 'Create one',
        text: 'spout address-pool create public --cidr 198.51.100.0/24 --ranges 198.51.100.16-198.51.100.99',
      },
    ]}
  >
    Load balancers get their public addresses from pools. Without one, only addresses of tenants&#39; own networks can
    be balanced.
  </EmptyState>
)
