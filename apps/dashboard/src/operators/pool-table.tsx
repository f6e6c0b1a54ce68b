import { Link } from '@tanstack/react-router'
import { Table } from '../parts/table.tsx'
import { absoluteTime } from '../parts/time-text.ts'
import type { Run } from './pool-runs.ts'
import styles from './pools-page.module.css'
import { holderText, STATE_WORDS } from './run-text.ts'

/** More runs are not shown. */
const MOST = 500

interface Props {
  readonly name: string
  readonly runs: readonly Run[]
  readonly projects: ReadonlyMap<string, string>
}

/** What the map shows, as rows. */
export const PoolTable = ({ name, runs, projects }: Props) => (
  <>
    <Table label={`Addresses of ${name}`} head={['Addresses', 'Number', 'State', 'Of', 'Used as', 'Load balancers']}>
      {runs.slice(0, MOST).map((run) => (
        <tr key={run.first}>
          <th scope="row">{run.first === run.last ? run.first : `${run.first} – ${run.last}`}</th>
          <td>{run.count.toLocaleString()}</td>
          <td>{run.until === null ? STATE_WORDS[run.state] : `rests until ${absoluteTime(run.until)}`}</td>
          <td>
            <bdi>{holderText(run, projects)}</bdi>
          </td>
          <td>{run.use ?? '–'}</td>
          <td>
            <Owners run={run} />
          </td>
        </tr>
      ))}
    </Table>
    {runs.length > MOST && <p className={styles.soft}>and {(runs.length - MOST).toLocaleString()} more</p>}
  </>
)

function Owners({ run: { ownerIds, state, use } }: { readonly run: Run }) {
  const [first, ...others] = ownerIds
  if (first === undefined || state !== 'taken') return <>–</>
  if (use !== 'vip') return <>{ownerIds.length}</>
  return (
    <>
      <Link to="/load-balancers/$id" params={{ id: first }}>
        show
      </Link>
      {others.length > 0 && ` and ${others.length} more`}
    </>
  )
}
