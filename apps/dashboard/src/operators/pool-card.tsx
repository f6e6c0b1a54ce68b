import type { Address, AddressPool } from '@spout/model'
import { Badge } from '../parts/badge.tsx'
import { Name } from '../parts/name.tsx'
import { Card } from '../parts/page.tsx'
import { PoolMap } from './pool-map.tsx'
import { countsOf, poolRuns } from './pool-runs.ts'
import { PoolTable } from './pool-table.tsx'
import styles from './pools-page.module.css'

interface Props {
  readonly pool: AddressPool
  readonly addresses: readonly Address[]
  /** Names by id. */
  readonly projects: ReadonlyMap<string, string>
}

/** One pool: its counts, its map, and the same as a table. */
export function PoolCard({ pool, addresses, projects }: Props) {
  const runs = poolRuns(pool, addresses, Date.now())
  const { all, free, taken, resting } = countsOf(runs)
  return (
    <Card
      title={
        <span className={styles.title}>
          <Name of={pool.name} or={pool.id} />
          {pool.draining && <Badge tone="warn">draining: gives out no new addresses</Badge>}
          {free === 0n && <Badge tone="bad">nothing free</Badge>}
        </span>
      }
    >
      <p className={styles.soft}>
        {pool.ranges.map(({ first, last }) => `${first} – ${last}`).join(', ')} · {bigText(free)} of {bigText(all)}{' '}
        free, {bigText(taken)} taken, {bigText(resting)} {resting === 1n ? 'rests' : 'rest'} ·{' '}
        {pool.projectIds === null
          ? 'for every project'
          : `for ${pool.projectIds.map((id) => projects.get(id) ?? id).join(', ') || 'no project'}`}
      </p>
      <PoolMap name={pool.name} runs={runs} projects={projects} />
      <details className={styles.more}>
        <summary>As a table</summary>
        <PoolTable name={pool.name} runs={runs} projects={projects} />
      </details>
    </Card>
  )
}

const bigText = (count: bigint): string => count.toLocaleString()
