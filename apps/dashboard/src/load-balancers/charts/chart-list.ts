import type { FigureName, Figures } from '@spout/model'
import { byteFigure, shortFigure } from '../../parts/figures.ts'

export interface Series {
  readonly figure: FigureName
  readonly title: string
  /** A custom property of `tokens.css`. */
  readonly colour: `--series-${1 | 2 | 3 | 4 | 5}`
}

export interface Chart {
  readonly title: string
  readonly series: readonly Series[]
  /** A value with its unit. */
  readonly text: (value: number) => string
  /** The steps that its axis may have from tick to tick. Absent: any. */
  readonly steps?: readonly number[]
}

const perSecond = (value: number): string => `${shortFigure(value)}/s`
const bytes = (value: number): string => byteFigure(value, '/s')
const milliseconds = (value: number): string => `${shortFigure(value)} ms`

/** Half a connection is no tick. Up to 5e11. */
const WHOLE_STEPS = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat()

const CHARTS: readonly Chart[] = [
  {
    title: 'New connections',
    series: [{ figure: 'connectionsPerSecond', title: 'connections', colour: '--series-1' }],
    text: perSecond,
  },
  {
    title: 'Open connections',
    series: [{ figure: 'openConnections', title: 'open', colour: '--series-5' }],
    text: (value) => shortFigure(value),
    steps: WHOLE_STEPS,
  },
  {
    title: 'Bytes',
    series: [
      { figure: 'bytesInPerSecond', title: 'from clients', colour: '--series-1' },
      { figure: 'bytesOutPerSecond', title: 'to clients', colour: '--series-2' },
    ],
    text: bytes,
  },
  {
    title: 'Requests',
    series: [{ figure: 'requestsPerSecond', title: 'requests', colour: '--series-1' }],
    text: perSecond,
  },
  {
    title: 'Responses by status',
    series: [
      { figure: 'responses2xxPerSecond', title: '2xx', colour: '--series-2' },
      { figure: 'responses3xxPerSecond', title: '3xx', colour: '--series-1' },
      { figure: 'responses4xxPerSecond', title: '4xx', colour: '--series-3' },
      { figure: 'responses5xxPerSecond', title: '5xx', colour: '--series-4' },
    ],
    text: perSecond,
  },
  {
    title: 'Time to answer',
    series: [
      { figure: 'latencyP50Ms', title: 'half of them', colour: '--series-2' },
      { figure: 'latencyP90Ms', title: '90 %', colour: '--series-3' },
      { figure: 'latencyP99Ms', title: '99 %', colour: '--series-4' },
    ],
    text: milliseconds,
  },
]

/** The charts of what was counted. Those without any series are left out. */
export const chartsOf = ({ series }: Pick<Figures, 'series'>): readonly Chart[] =>
  CHARTS.map((chart) => ({
    ...chart,
    series: chart.series.filter(({ figure }) => series[figure] !== undefined),
  })).filter((chart) => chart.series.length > 0)

/** A chart has at least so many steps, so that two points are no line from edge to edge. */
const LEAST_STEPS = 10

/**
 * Columns as uPlot takes them: times in seconds since 1970, then a column for each series. All charts of the same figures
 * begin at one time: with the first step of which anything is known.
 */
export function columnsOf({ from, stepSeconds, series }: Figures, { series: shown }: Chart): (number | null)[][] {
  const begin = firstStep(Object.values(series).filter((values) => values !== undefined))
  const columns = shown.map(({ figure }) => (series[figure] ?? []).slice(begin))
  const steps = Math.max(0, ...columns.map(({ length }) => length))
  const start = Date.parse(from) / 1000
  return [Array.from({ length: steps }, (_, at) => start + (begin + at) * stepSeconds), ...columns]
}

function firstStep(all: readonly (readonly (number | null)[])[]): number {
  const steps = Math.max(0, ...all.map(({ length }) => length))
  const known = all.map((values) => values.findIndex((value) => value !== null)).filter((at) => at >= 0)
  return Math.max(0, Math.min(...known, steps - LEAST_STEPS))
}

/** What a chart shows in words: the last known value and the highest of each series. */
export const summaryOf = ({ series }: Pick<Figures, 'series'>, chart: Chart): string =>
  chart.series
    .map(({ figure, title }) => {
      const known = (series[figure] ?? []).filter((value) => value !== null)
      const last = known.at(-1)
      return last === undefined
        ? `${title}: nothing yet`
        : `${title}: now ${chart.text(last)}, at most ${chart.text(Math.max(...known))}`
    })
    .join('; ')
