import { readFigures } from '../../api/figures.ts'
import { keys } from '../../api/query-keys.ts'
import { FigureCharts } from './figure-charts.tsx'

/** What a load balancer did in the last hour or day. */
export const ChartsView = ({ id }: { readonly id: string }) => (
  <FigureCharts
    queryKey={(span) => keys.figures(id, span)}
    read={(span, signal) => readFigures(`load-balancers/${encodeURIComponent(id)}`, span, signal)}
  />
)
