import type { LoadBalancerRow } from '@spout/model'
import { Link } from '@tanstack/react-router'
import type { FC } from 'react'
import { byteFigure, shortFigure } from '../../parts/figures.ts'
import { HealthBadge } from '../../parts/health-badge.tsx'
import { Name } from '../../parts/name.tsx'
import { Time } from '../../parts/time.tsx'
import styles from './columns.module.css'
import { ownerText } from './owner-words.ts'
import type { Sort } from './table-search.ts'

export interface Column {
  readonly id: string
  readonly title: string
  readonly className: string | undefined
  readonly Cell: FC<{ readonly row: LoadBalancerRow }>
  readonly sort?: { readonly by: Sort; readonly first: 'up' | 'down' }
}

const Health: Column['Cell'] = ({ row }) => <HealthBadge health={row.health} />

/** The name, and below it why it is not well, else what made it. */
const Called: Column['Cell'] = ({ row: { id, name, reason, owner } }) => {
  const more = reason ?? ownerText(owner)
  const whole = reason ?? ownerText(owner, (cluster) => cluster)
  return (
    <>
      <Link to="/load-balancers/$id" params={{ id }} className={styles.link}>
        <Name of={name} or={id} />
      </Link>
      {more !== null && (
        <span className={styles.more} title={whole ?? more}>
          <bdi>{more}</bdi>
        </span>
      )}
    </>
  )
}

const Address: Column['Cell'] = ({ row: { vips } }) => (
  <>
    <span className={styles.mono}>{vips[0] ?? '–'}</span>
    {vips.length > 1 && (
      <span className={styles.more} title={vips.join(', ')}>
        and {vips.length - 1} more
      </span>
    )}
  </>
)

const Members: Column['Cell'] = ({ row: { members } }) =>
  members.total === 0 ? (
    <span className={styles.soft}>none</span>
  ) : (
    <span className={members.serving < members.total ? styles.fewer : undefined}>
      {members.serving} of {members.total}
    </span>
  )

const Connections: Column['Cell'] = ({ row: { connectionsPerSecond: rate } }) =>
  rate === null ? <span className={styles.soft}>–</span> : `${shortFigure(rate)}/s`

const Traffic: Column['Cell'] = ({ row: { bytesPerSecond: rate } }) =>
  rate === null ? <span className={styles.soft}>–</span> : byteFigure(rate, '/s')

const Owner: Column['Cell'] = ({ row: { projectName, projectId } }) => <Name of={projectName} or={projectId} />

const Created: Column['Cell'] = ({ row: { createdAt } }) => <Time at={createdAt} />

export const COLUMNS: readonly Column[] = [
  { id: 'health', title: 'Health', className: styles.health, Cell: Health, sort: { by: 'health', first: 'up' } },
  { id: 'name', title: 'Name', className: styles.name, Cell: Called, sort: { by: 'name', first: 'up' } },
  { id: 'address', title: 'Address', className: styles.address, Cell: Address },
  { id: 'members', title: 'Members', className: styles.members, Cell: Members, sort: { by: 'members', first: 'up' } },
  {
    ...{ id: 'connections', title: 'Connections', className: styles.figure, Cell: Connections },
    sort: { by: 'connections', first: 'down' },
  },
  { id: 'bytes', title: 'Traffic', className: styles.figure, Cell: Traffic, sort: { by: 'bytes', first: 'down' } },
  { id: 'project', title: 'Project', className: styles.project, Cell: Owner },
  { id: 'created', title: 'Created', className: styles.created, Cell: Created, sort: { by: 'created', first: 'down' } },
]
