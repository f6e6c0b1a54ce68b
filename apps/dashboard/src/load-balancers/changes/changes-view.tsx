import type { AuditRecord } from '@spout/model'
import { useInfiniteQuery } from '@tanstack/react-query'
import { listChanges } from '../../api/audit.ts'
import { keys } from '../../api/query-keys.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Name } from '../../parts/name.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { changeText, refusalText, surfaceText } from './change-text.ts'
import styles from './changes-view.module.css'

/** Who changed a load balancer and its parts, what, and when. */
export function ChangesView({ id }: { readonly id: string }) {
  const pages = useInfiniteQuery({
    queryKey: keys.changes(id),
    queryFn: ({ pageParam, signal }) => listChanges(id, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  })
  return (
    <Loaded query={pages}>
      {({ pages: read }) => (
        <div className={styles.changes}>
          <Records of={read.flatMap(({ items }) => items)} />
          {pages.hasNextPage && (
            <Button onPress={() => void pages.fetchNextPage()} isPending={pages.isFetchingNextPage}>
              Show earlier changes
            </Button>
          )}
        </div>
      )}
    </Loaded>
  )
}

const Records = ({ of }: { readonly of: readonly AuditRecord[] }) =>
  of.length === 0 ? (
    <p>No change is recorded here.</p>
  ) : (
    <Table label="Changes, newest first" head={['When', 'What', 'Who', 'Through']}>
      {of.map((record) => {
        const refusal = refusalText(record)
        return (
          <tr key={record.requestId}>
            <td>
              <Time at={record.time} />
            </td>
            <td>
              {changeText(record)} {refusal !== null && <Badge tone="warn">{refusal}</Badge>}
            </td>
            <td>{record.userName === null ? 'a node' : <Name of={record.userName} />}</td>
            <td>{surfaceText(record)}</td>
          </tr>
        )
      })}
    </Table>
  )
