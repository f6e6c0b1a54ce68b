import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FC, type FormEvent, useState } from 'react'
import { type AuditFilter, readAuditLog } from '../api/audit-log.ts'
import { Button } from '../parts/button.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemBox } from '../parts/problem-box.tsx'
import { TextInput } from '../parts/text-input.tsx'
import { useProjects } from '../project/use-projects.ts'
import { auditFilter, auditSearch } from './audit-filter.ts'
import styles from './audit-page.module.css'
import { AuditTable } from './audit-table.tsx'
import { OperatorsOnly } from './operators-only.tsx'

/** Who did what, newest first. The filter is in the URL. */
export const AuditPage: FC = () => (
  <OperatorsOnly>
    <Page title="Audit log">
      <Log />
    </Page>
  </OperatorsOnly>
)

function Log() {
  const filter = auditFilter(useSearch({ strict: false }))
  const { data: projects = [] } = useProjects()
  const log = useInfiniteQuery({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam, signal }) => readAuditLog(filter, pageParam, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next ?? undefined,
    staleTime: 0,
  })
  const records = log.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <>
      <Filter key={JSON.stringify(filter)} filter={filter} />
      {log.error !== null && <ProblemBox error={log.error} />}
      {log.data !== undefined && <AuditTable records={records} projects={projects} />}
      <div className={styles.actions}>
        <Button onPress={() => void log.refetch()} isPending={log.isRefetching}>
          Read again
        </Button>
        {log.hasNextPage && (
          <Button onPress={() => void log.fetchNextPage()} isPending={log.isFetchingNextPage}>
            Older
          </Button>
        )}
      </div>
    </>
  )
}

function Filter({ filter }: { readonly filter: AuditFilter }) {
  const [typed, setTyped] = useState(filter)
  const navigate = useNavigate()
  const set = (field: keyof AuditFilter) => (value: string) =>
    setTyped((before) => ({ ...before, [field]: value.trim() }))
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    void navigate({ to: '/audit', search: auditSearch(typed) })
  }
  return (
    <form className={styles.filter} onSubmit={submit}>
      <TextInput label="User" value={typed.user} onChange={set('user')} />
      <TextInput label="Object" value={typed.object} onChange={set('object')} placeholder="id" />
      <TextInput label="Project" value={typed.project} onChange={set('project')} placeholder="id" />
      <Button type="submit">Filter</Button>
    </form>
  )
}
