import type { FigureSpan, Figures } from '@spout/model'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Choice } from '../../parts/choice.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Card } from '../../parts/page.tsx'
import { chartsOf, summaryOf } from './chart-list.ts'
import styles from './charts-view.module.css'
import { Plot } from './plot.tsx'

const REFRESH_MS: Readonly<Record<FigureSpan, number>> = { hour: 10_000, day: 60_000 }

interface Props {
  /** The key of what was read, for a span. */
  readonly queryKey: (span: FigureSpan) => readonly unknown[]
  readonly read: (span: FigureSpan, signal: AbortSignal) => Promise<Figures>
  /** Stands where nothing was counted yet. */
  readonly empty: ReactNode
}

/** What a load balancer or a node did in the last hour or day. */
export function FigureCharts({ queryKey, read, empty }: Props) {
  const [span, setSpan] = useState<FigureSpan>('hour')
  const figures = useQuery({
    queryKey: queryKey(span),
    queryFn: ({ signal }) => read(span, signal),
    refetchInterval: REFRESH_MS[span],
  })
  return (
    <div className={styles.view}>
      <div className={styles.span}>
        <Choice
          label="Time"
          value={span}
          onChange={(value) => setSpan(value === 'day' ? 'day' : 'hour')}
          options={[
            { value: 'hour', text: 'Last hour' },
            { value: 'day', text: 'Last day' },
          ]}
        />
      </div>
      <Loaded query={figures}>
        {(counted) => {
          const charts = chartsOf(counted)
          if (charts.length === 0) return empty
          return (
            <div className={styles.charts}>
              {charts.map((chart) => (
                <Card key={chart.title} title={chart.title}>
                  <p className={styles.summary}>{summaryOf(counted, chart)}</p>
                  <Plot chart={chart} figures={counted} />
                </Card>
              ))}
            </div>
          )
        }}
      </Loaded>
    </div>
  )
}
