import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { FC } from 'react'
import { listProjects } from '../api/projects.ts'
import { keys } from '../api/query-keys.ts'
import { readQuota } from '../api/quotas.ts'
import { Badge } from '../parts/badge.tsx'
import { Facts } from '../parts/facts.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Card, Page } from '../parts/page.tsx'
import { NotFoundPage } from '../parts/status-page.tsx'
import { Time } from '../parts/time.tsx'
import { useSession } from '../session/session-context.ts'
import { CredentialCard } from './credential-card.tsx'
import { hasCredentials } from './credential-draft.ts'
import { QuotaCard } from './quota-card.tsx'
import { UserTable } from './user-table.tsx'

/** The reader's own project: what it may use, and what it uses. */
export const OwnProjectPage: FC = () => {
  const { projectId } = useSession()
  return projectId === null ? null : <Project id={projectId} />
}

/** Any project, for operators. */
export const ProjectPage: FC = () => {
  const { id = '' } = useParams({ strict: false })
  return <Project id={id} />
}

function Project({ id }: { readonly id: string }) {
  const { may, projectId, roles } = useSession()
  const projects = useQuery({ queryKey: keys.of('project'), queryFn: ({ signal }) => listProjects(signal) })
  const quota = useQuery({ queryKey: keys.of('quota', id), queryFn: ({ signal }) => readQuota(id, signal) })
  return (
    <Loaded query={projects}>
      {(all) => {
        const project = all.find((one) => one.id === id)
        if (project === undefined) return <NotFoundPage reason="There is no such project." />
        const domains = [...(project.domains ?? []), ...(project.provenDomains ?? [])]
        return (
          <Page
            title={project.name || 'Project'}
            above={may.operate ? <Link to="/projects">Projects</Link> : 'Project'}
            beside={project.enabled ? null : <Badge tone="warn">disabled</Badge>}
          >
            <Facts
              of={[
                ['Id', <code key="id">{id}</code>],
                ['Created', <Time key="created" at={project.createdAt} />],
                ...(domains.length === 0
                  ? []
                  : [['DNS names below', <bdi key="names">{domains.join(', ')}</bdi>] as const]),
              ]}
            />
            <Loaded query={quota}>{(data) => <QuotaCard projectId={id} name={project.name} quota={data} />}</Loaded>
            {id === projectId && hasCredentials(roles) && <CredentialCard />}
            {may.operate && (
              <Card title="Users">
                <UserTable project={project} />
              </Card>
            )}
          </Page>
        )
      }}
    </Loaded>
  )
}
