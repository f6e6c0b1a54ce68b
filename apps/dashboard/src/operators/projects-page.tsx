import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FC, useState } from 'react'
import { keys } from '../api/query-keys.ts'
import { readQuota } from '../api/quotas.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Meter } from '../parts/meter.tsx'
import { Name } from '../parts/name.tsx'
import { Page } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'
import { QuotaDialog } from '../project/quota-dialog.tsx'
import { fullest, quotaRows } from '../project/quota-rows.ts'
import { useProjects } from '../project/use-projects.ts'
import { OperatorsOnly } from './operators-only.tsx'
import styles from './projects-page.module.css'

/** More are not listed; the page of one is found by its address. */
const MOST = 100

/** The projects, each with what it uses most of its quota. */
export const ProjectsPage: FC = () => (
  <OperatorsOnly>
    <Page title="Projects">
      <Projects />
    </Page>
  </OperatorsOnly>
)

function Projects() {
  const projects = useProjects()
  const [changing, setChanging] = useState<string | null>(null)
  const shown = (projects.data ?? []).slice(0, MOST)
  const quotas = useQueries({
    queries: shown.map(({ id }) => ({
      queryKey: keys.of('quota', id),
      queryFn: ({ signal }: { signal: AbortSignal }) => readQuota(id, signal),
    })),
  })
  return (
    <Loaded query={projects}>
      {(all) => (
        <>
          <Table label="Projects" head={['Project', 'State', 'Load balancers', 'Nearest to its limit', 'Actions']}>
            {shown.map(({ id, name, enabled, description }, at) => {
              const quota = quotas[at]?.data
              const rows = quota === undefined ? [] : quotaRows(quota)
              const most = fullest(rows)
              return (
                <tr key={id}>
                  <th scope="row">
                    <Link to="/projects/$id" params={{ id }}>
                      <Name of={name} or={id} />
                    </Link>
                    {description !== '' && (
                      <p className={styles.note}>
                        <Name of={description} />
                      </p>
                    )}
                  </th>
                  <td>
                    <Badge tone={enabled ? 'ok' : 'quiet'}>{enabled ? 'enabled' : 'disabled'}</Badge>
                  </td>
                  <td className={styles.figure}>{rows.find(({ resource }) => resource === 'loadBalancers')?.text}</td>
                  <td className={styles.meter}>
                    {most !== null && (
                      <Meter
                        label={most.title}
                        value={most.used}
                        limit={most.limit}
                        tone={most.level}
                        text={most.text}
                      />
                    )}
                  </td>
                  <td>
                    <Button
                      variant="quiet"
                      aria-label={`Change quota of ${name || id}`}
                      onPress={() => setChanging(id)}
                    >
                      Change quota
                    </Button>
                    {changing === id && quota !== undefined && (
                      <QuotaDialog projectId={id} name={name} quota={quota} onClose={() => setChanging(null)} />
                    )}
                  </td>
                </tr>
              )
            })}
          </Table>
          {all.length > MOST && <p className={styles.note}>and {(all.length - MOST).toLocaleString()} more projects</p>}
        </>
      )}
    </Loaded>
  )
}
