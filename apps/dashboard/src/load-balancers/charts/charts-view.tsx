import { useQuery } from '@tanstack/react-query'
import { readFigures } from '../../api/figures.ts'
import { explainLoadBalancer } from '../../api/load-balancers.ts'
import { keys } from '../../api/query-keys.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { FigureCharts } from './figure-charts.tsx'
import { firstRequest } from './first-request.ts'

/** What a load balancer did in the last hour or day. */
export const ChartsView = ({ id }: { readonly id: string }) => (
  <FigureCharts
    queryKey={(span) => keys.figures(id, span)}
    read={(span, signal) => readFigures(`load-balancers/${encodeURIComponent(id)}`, span, signal)}
    empty={<NothingCounted id={id} />}
  />
)

/** Stands where no traffic was counted yet. */
function NothingCounted({ id }: { readonly id: string }) {
  const { data: told } = useQuery({
    queryKey: keys.explanation(id),
    queryFn: ({ signal }) => explainLoadBalancer(id, signal),
  })
  const text = told === undefined ? null : firstRequest(told)
  return (
    <EmptyState title="No traffic yet" commands={text === null ? [] : [{ title: 'Send the first request', text }]}>
      Charts begin some seconds after the first traffic. They are kept in memory: when the control plane restarts, they
      begin anew.
    </EmptyState>
  )
}
