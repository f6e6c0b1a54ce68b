import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type FC, lazy, Suspense, useState } from 'react'
import type { LoadBalancerExplanation } from '../../api/explanation.ts'
import { explainLoadBalancer } from '../../api/load-balancers.ts'
import { keys } from '../../api/query-keys.ts'
import { useTopics } from '../../live/live-context.ts'
import { Button, ButtonLink } from '../../parts/button.tsx'
import { HealthBadge } from '../../parts/health-badge.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { TabList, TabPanel, TabPanels, Tabs } from '../../parts/tabs.tsx'
import { useSession } from '../../session/session-context.ts'
import { healthOf, reasonOf } from '../health-of.ts'
import { PathView } from '../path/path-view.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import styles from './detail-page.module.css'
import { VIEWS, type View } from './detail-search.ts'
import { MadeFor } from './made-for.tsx'
import { useHealthNews } from './use-health-news.ts'

const MembersView = lazy(async () => ({ default: (await import('../members/members-view.tsx')).MembersView }))
const ChartsView = lazy(async () => ({ default: (await import('../charts/charts-view.tsx')).ChartsView }))
const ChangesView = lazy(async () => ({ default: (await import('../changes/changes-view.tsx')).ChangesView }))
const TextView = lazy(async () => ({ default: (await import('../text/text-view.tsx')).TextView }))
const EditView = lazy(async () => ({ default: (await import('../edit/edit-view.tsx')).EditView }))

const TITLES: Readonly<Record<View, string>> = {
  path: 'Path',
  members: 'Members',
  charts: 'Charts',
  changes: 'Changes',
  text: 'As text',
  edit: 'Edit',
}

const CONTENTS: Readonly<Record<View, FC<{ readonly id: string }>>> = {
  path: PathView,
  members: MembersView,
  charts: ChartsView,
  changes: ChangesView,
  text: TextView,
  edit: EditView,
}

/** One load balancer. */
export const DetailPage: FC = () => {
  const { id } = useParams({ from: '/load-balancers/$id' })
  useTopics(`load-balancer:${id}`)
  const told = useQuery({
    queryKey: keys.explanation(id),
    queryFn: ({ signal }) => explainLoadBalancer(id, signal),
  })
  return (
    <Loaded query={told}>
      {(explanation) => {
        const { loadBalancer, vips } = explanation
        return (
          <Detail
            id={id}
            name={loadBalancer.name || id}
            address={vips[0]?.address ?? ''}
            health={healthOf(explanation)}
            reason={reasonOf(explanation)}
            madeFor={explanation.madeFor}
          />
        )
      }}
    </Loaded>
  )
}

interface Props {
  readonly id: string
  readonly name: string
  /** Its first one. */
  readonly address: string
  readonly health: ReturnType<typeof healthOf>
  readonly reason: string | null
  readonly madeFor: LoadBalancerExplanation['madeFor']
}

function Detail({ id, name, address, health, reason, madeFor }: Props) {
  const { view = 'path' } = useSearch({ from: '/load-balancers/$id' })
  const navigate = useNavigate({ from: '/load-balancers/$id' })
  const { may } = useSession()
  const [isDeleting, setDeleting] = useState(false)
  const [hasEdited, setEdited] = useState(view === 'edit')
  if (view === 'edit' && !hasEdited) setEdited(true)
  useHealthNews(name, health)
  const shown = VIEWS.filter((one) => one !== 'edit' || may.balance)
  const show = (next: View): void => void navigate({ search: { view: next === 'path' ? undefined : next } })
  return (
    <Page
      title={name}
      above={<Link to="/load-balancers">Load balancers</Link>}
      beside={<HealthBadge health={health} />}
      actions={
        <>
          <ButtonLink to="/explain" search={{ lb: id, address }}>
            Explain a request
          </ButtonLink>
          {may.balance && (
            <>
              <Button onPress={() => show('edit')}>Edit</Button>
              <Button onPress={() => setDeleting(true)}>Delete</Button>
            </>
          )}
        </>
      }
    >
      <MadeFor objects={madeFor} />
      {reason !== null && (
        <p className={styles.reason}>
          <bdi>{reason}</bdi>
        </p>
      )}
      <Tabs selectedKey={view} onSelectionChange={(key) => show(key as View)} className={styles.tabs}>
        <TabList label="Views" tabs={shown.map((one) => ({ id: one, title: TITLES[one] }))} />
        <TabPanels>
          {shown.map((one) => {
            const Content = CONTENTS[one]
            return (
              // What was typed stays while another view is shown.
              <TabPanel key={one} id={one} className={styles.panel} shouldForceMount={one === 'edit' && hasEdited}>
                <Suspense>
                  <Content id={id} />
                </Suspense>
              </TabPanel>
            )
          })}
        </TabPanels>
      </Tabs>
      {isDeleting && <DeleteDialog id={id} name={name} onClose={() => setDeleting(false)} />}
    </Page>
  )
}
