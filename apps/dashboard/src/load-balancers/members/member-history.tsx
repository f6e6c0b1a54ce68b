import { useQuery } from '@tanstack/react-query'
import type { ExplainedPool } from '../../api/explanation.ts'
import { readMemberHistory } from '../../api/figures.ts'
import { keys } from '../../api/query-keys.ts'
import { Badge } from '../../parts/badge.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Name } from '../../parts/name.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import styles from './members-view.module.css'

const MOST_SHOWN = 100

interface Props {
  readonly id: string
  readonly pools: readonly ExplainedPool[]
}

/** When the checks of members began to fail and to succeed again, newest first. */
export function MemberHistory({ id, pools }: Props) {
  const history = useQuery({
    queryKey: keys.memberHistory(id),
    queryFn: ({ signal }) => readMemberHistory(id, signal),
  })
  const names = new Map(
    pools.flatMap((pool) => pool.members.map(({ id, name, address, port }) => [id, name || `${address}:${port}`])),
  )
  return (
    <section className={styles.pool} aria-label="Checks">
      <h2>Checks</h2>
      <Loaded query={history}>
        {(items) =>
          items.length === 0 ? (
            <p className={styles.soft}>No check has changed its result lately.</p>
          ) : (
            <Table label="Checks, newest first" head={['When', 'Member', 'Became', 'Reason', 'Seen by']}>
              {items
                .toReversed()
                .slice(0, MOST_SHOWN)
                .map(({ at, memberId, health, reason, nodeName }) => (
                  <tr key={`${at} ${memberId} ${nodeName}`}>
                    <td>
                      <Time at={at} />
                    </td>
                    <td>
                      <Name of={names.get(memberId) ?? 'a former member'} />
                    </td>
                    <td>
                      <Badge tone={health === 'up' ? 'ok' : health === 'down' ? 'bad' : 'quiet'}>{health}</Badge>
                    </td>
                    <td>{reason ?? '–'}</td>
                    <td>{nodeName}</td>
                  </tr>
                ))}
            </Table>
          )
        }
      </Loaded>
    </section>
  )
}
