import type { Figures } from '@spout/model'
import { expect, it } from 'vitest'
import { chartsOf, columnsOf, summaryOf } from './chart-list.ts'

const FIGURES: Figures = {
  stepSeconds: 60,
  from: '2026-11-29T12:00:00.000Z',
  series: {
    connectionsPerSecond: [null, 2, 4],
    bytesInPerSecond: [null, 1000, 2500],
    responses2xxPerSecond: [null, null, null],
  },
}

it('has a chart for what was counted, and none for what was not', () => {
  expect(chartsOf(FIGURES).map(({ title, series }) => [title, series.length])).toEqual([
    ['New connections', 1],
    ['Bytes', 1],
    ['Responses by status', 1],
  ])
  expect(chartsOf({ series: {} })).toEqual([])
})

it('gives the times and values of each step', () => {
  const [chart] = chartsOf(FIGURES)
  const start = Date.parse(FIGURES.from) / 1000
  expect(chart && columnsOf(FIGURES, chart)).toEqual([
    [start, start + 60, start + 120],
    [null, 2, 4],
  ])
})

it.each([
  [57, 50],
  [20, 20],
  [0, 0],
])('charts of what is known from step %i on begin with step %i', (known, begin) => {
  const stepsFrom = (first: number) => Array.from({ length: 60 }, (_, at) => (at < first ? null : at))
  const figures = {
    ...FIGURES,
    series: { connectionsPerSecond: stepsFrom(known), bytesInPerSecond: stepsFrom(59) },
  }
  const start = Date.parse(FIGURES.from) / 1000
  for (const chart of chartsOf(figures)) {
    const [times = [], values = []] = columnsOf(figures, chart)
    expect([times[0], times.length, values.length]).toEqual([start + begin * 60, 60 - begin, 60 - begin])
    expect([times.at(-1), values.at(-1)]).toEqual([start + 59 * 60, 59])
  }
})

it('says in words what a chart shows', () => {
  expect(chartsOf(FIGURES).map((chart) => summaryOf(FIGURES, chart))).toEqual([
    'connections: now 4/s, at most 4/s',
    'from clients: now 2.5 kB/s, at most 2.5 kB/s',
    '2xx: nothing yet',
  ])
})

it('has whole numbers alone on the axis of what is counted', () => {
  const [chart] = chartsOf({ series: { openConnections: [1] } })
  expect(chart?.steps?.slice(0, 4)).toEqual([1, 2, 5, 10])
  expect(chart?.steps?.every(Number.isInteger)).toBe(true)
})
