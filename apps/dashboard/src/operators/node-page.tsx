import { Link, useParams } from '@tanstack/react-router'
import { type FC, lazy, Suspense } from 'react'
import { readFigures } from '../api/figures.ts'
import type { ShownNode } from '../api/nodes.ts'
import { keys } from '../api/query-keys.ts'
import { Badge } from '../parts/badge.tsx'
import { Facts } from '../parts/facts.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Card, Page } from '../parts/page.tsx'
import { NotFoundPage } from '../parts/status-page.tsx'
import { Time } from '../parts/time.tsx'
import { useNodes } from './node-reads.ts'
import { NodeShards } from './node-shards.tsx'
import { nodeVerdict } from './node-verdict.ts'
import styles from './nodes-page.module.css'
import { OperatorsOnly } from './operators-only.tsx'
import { ProblemList } from './problem-list.tsx'
import { SchedulingButton } from './scheduling-button.tsx'
import { SessionTable } from './session-table.tsx'

const FigureCharts = lazy(async () => ({
  default: (await import('../load-balancers/charts/figure-charts.tsx')).FigureCharts,
}))

/** One node: what it does, what keeps it from more, and what it can do. */
export const NodePage: FC = () => (
  <OperatorsOnly>
    <OneNode />
  </OperatorsOnly>
)

function OneNode() {
  const { id = '' } = useParams({ strict: false })
  return (
    <Loaded query={useNodes()}>
      {(nodes) => {
        const node = nodes.find((one) => one.id === id)
        return node === undefined ? <NotFoundPage reason="There is no such node." /> : <Shown node={node} />
      }}
    </Loaded>
  )
}

function Shown({ node }: { readonly node: ShownNode }) {
  const { status } = node
  const { level, text } = nodeVerdict(node)
  return (
    <Page
      title={node.name}
      above={<Link to="/nodes">Nodes</Link>}
      beside={<Badge tone={level}>{text}</Badge>}
      actions={<SchedulingButton node={node} />}
    >
      <Facts of={factsOf(node)} />
      {status.problems.length > 0 && (
        <Card title="Problems">
          <ProblemList problems={status.problems.map((one) => ({ ...one, key: one.code }))} />
        </Card>
      )}
      <Traffic id={node.id} />
      {status.bgpSessions.length > 0 && <SessionTable sessions={status.bgpSessions} />}
      {status.shards.length > 0 && <NodeShards shards={status.shards} isDraining={node.scheduling === 'draining'} />}
      <Card title="What it can do">
        <ul className={styles.features}>
          {status.features.map((feature) => (
            <li key={feature}>{feature}</li>
          ))}
        </ul>
      </Card>
    </Page>
  )
}

/** What all load balancers did on the node. */
const Traffic = ({ id }: { readonly id: string }) => (
  <section aria-label="Traffic">
    <Suspense>
      <FigureCharts
        queryKey={(span) => keys.nodeFigures(id, span)}
        read={(span, signal) => readFigures(`nodes/${encodeURIComponent(id)}`, span, signal)}
        empty={<p>Nothing was counted yet. Figures begin some seconds after the first traffic.</p>}
      />
    </Suspense>
  </section>
)

const factsOf = ({ status, ...node }: ShownNode) => [
  ['Group', node.nodeGroupName ?? 'none'] as const,
  ['Announces', `${status.announced.toLocaleString()} ${status.announced === 1 ? 'address' : 'addresses'}`] as const,
  ['Address on the fabric', node.fabricAddress ?? status.fabricAddress ?? 'unknown'] as const,
  ['Scheduling', schedulingText(node)] as const,
  ['Last report', <Time key="report" at={status.lastReportAt} />] as const,
  ['Version', status.version ?? 'unknown'] as const,
  ...(status.flows === null
    ? []
    : [
        [
          'Connections that outlive it',
          `${status.flows.carried.toLocaleString()} carried, ${status.flows.ready.toLocaleString()} held ready for others`,
        ] as const,
      ]),
  ...(status.departure?.busyProxies ? [['Proxies with clients', `${status.departure.busyProxies}`] as const] : []),
]

const schedulingText = ({
  scheduling,
  clusterScheduling,
}: Pick<ShownNode, 'scheduling' | 'clusterScheduling'>): string =>
  clusterScheduling === undefined ? scheduling : `${scheduling}: its cluster says ${clusterScheduling.reason}`
