import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { FC } from 'react'
import { listProblems, type ShownProblem } from '../api/problems.ts'
import { keys } from '../api/query-keys.ts'
import { Badge } from '../parts/badge.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Name } from '../parts/name.tsx'
import { Card, Page } from '../parts/page.tsx'
import { OperatorsOnly } from './operators-only.tsx'
import { ProblemList } from './problem-list.tsx'

/** What an operator should look at, the worst first, each with what the runbook says of it. */
export const ProblemsPage: FC = () => (
  <OperatorsOnly>
    <Page title="Problems">
      <Problems />
    </Page>
  </OperatorsOnly>
)

/** They follow from all that is known, so no event says that they changed. */
const READ_AGAIN_MS = 5000

function Problems() {
  const problems = useQuery({
    queryKey: keys.problems,
    queryFn: ({ signal }) => listProblems(signal),
    refetchInterval: READ_AGAIN_MS,
  })
  return <Loaded query={problems}>{(all) => <Shown problems={all} />}</Loaded>
}

/** More are not shown: the worst come first. */
const MOST = 100

const Shown = ({ problems }: { readonly problems: readonly ShownProblem[] }) =>
  problems.length === 0 ? (
    <Card>
      <p>
        <Badge tone="ok">No problems</Badge> Every node reports, every shard has an owner, and no pool runs out.
      </p>
    </Card>
  ) : (
    <Card title={problems.length === 1 ? '1 problem' : `${problems.length} problems, the worst first`}>
      <ProblemList
        problems={problems.slice(0, MOST).map(({ level, code, object, message, runbook }) => ({
          key: `${object.id} ${code} ${message}`,
          tone: level === 'error' ? 'bad' : 'warn',
          code,
          message,
          anchor: runbook,
          subject: <About object={object} />,
        }))}
      />
    </Card>
  )

function About({ object: { kind, id, name } }: Pick<ShownProblem, 'object'>) {
  const text = <Name of={name} or={id} />
  if (kind === 'node')
    return (
      <Link to="/nodes/$id" params={{ id }}>
        {text}
      </Link>
    )
  if (kind === 'loadBalancer')
    return (
      <Link to="/load-balancers/$id" params={{ id }}>
        {text}
      </Link>
    )
  return <Link to={kind === 'addressPool' ? '/address-pools' : '/nodes'}>{text}</Link>
}
