import type { AddressPool, PoolUsage } from '@spout/model'
import { Badge } from '../parts/badge.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Name } from '../parts/name.tsx'
import { Card } from '../parts/page.tsx'
import { PoolMap } from './pool-map.tsx'
import { usePoolUsage } from './pool-reads.ts'
import { poolRuns } from './pool-runs.ts'
import { PoolTable } from './pool-table.tsx'
import styles from './pools-page.module.css'
import { countsText } from './run-text.ts'

interface Props {
  readonly pool: AddressPool
  /** Names by id. */
  readonly projects: ReadonlyMap<string, string>
}

/** One pool: its counts, its map, and the same as a table. */
export function PoolCard(props: Props) {
  const usage = usePoolUsage(props.pool)
  return <Loaded query={usage}>{(known) => <Shown {...props} usage={known} />}</Loaded>
}

function Shown({ pool, projects, usage }: Props & { readonly usage: PoolUsage }) {
  const runs = poolRuns(usage.parts)
  return (
    <Card
      title={
        <span className={styles.title}>
          <Name of={pool.name} or={pool.id} />
          {pool.draining && <Badge tone="warn">draining: gives out no new addresses</Badge>}
          {usage.free === 0 && <Badge tone="bad">nothing free</Badge>}
        </span>
      }
    >
      <p className={styles.soft}>
        {pool.ranges.map(({ first, last }) => `${first} – ${last}`).join(', ')} · {countsText(usage)} ·{' '}
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
