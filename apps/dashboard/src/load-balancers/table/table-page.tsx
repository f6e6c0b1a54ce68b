import type { LoadBalancerRow } from '@spout/model'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FC, useDeferredValue, useMemo } from 'react'
import { listRows } from '../../api/load-balancers.ts'
import { keys } from '../../api/query-keys.ts'
import { ButtonLink } from '../../parts/button.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { useSession } from '../../session/session-context.ts'
import { Filters } from './filters.tsx'
import { FirstOne } from './first-one.tsx'
import { RowTable } from './row-table.tsx'
import { shownRows } from './shown-rows.ts'
import styles from './table-page.module.css'
import type { TableSearch } from './table-search.ts'

/** All load balancers that the reader may see. */
export const TablePage: FC = () => {
  const { project = null } = useSearch({ from: '/load-balancers' })
  const { may } = useSession()
  const rows = useQuery({
    queryKey: keys.rows(project),
    queryFn: ({ signal }) => listRows(project, signal),
    // To compare ten thousand rows field by field takes longer than to draw those in sight.
    structuralSharing: false,
  })
  const create = may.balance && (
    <ButtonLink to="/load-balancers/new" variant="primary">
      Create load balancer
    </ButtonLink>
  )
  return (
    <Page title="Load balancers" actions={create}>
      <Loaded query={rows}>{(all) => <Rows all={all} />}</Loaded>
    </Page>
  )
}

function Rows({ all }: { readonly all: readonly LoadBalancerRow[] }) {
  const search = useSearch({ from: '/load-balancers' })
  const navigate = useNavigate({ from: '/load-balancers' })
  const { may } = useSession()
  const asked = useDeferredValue(search)
  const now = useDeferredValue(all)
  const { rows, counts } = useMemo(() => shownRows(now, asked), [now, asked])
  const change = (next: TableSearch): void => void navigate({ search: next, replace: true, resetScroll: false })
  if (all.length === 0 && search.project === undefined) return <FirstOne />
  return (
    <>
      <Filters search={search} counts={counts} onChange={change} />
      {rows.length === 0 ? (
        <p className={styles.none}>No load balancer matches.</p>
      ) : (
        <RowTable rows={rows} search={search} onChange={change} hasProjects={may.operate} />
      )}
    </>
  )
}
