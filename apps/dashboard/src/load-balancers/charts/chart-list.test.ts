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

it('says in words what a chart shows', () => {
  expect(chartsOf(FIGURES).map((chart) => summaryOf(FIGURES, chart))).toEqual([
    'connections: now 4/s, at most 4/s',
    'from clients: now 2.5 kB/s, at most 2.5 kB/s',
    '2xx: nothing yet',
  ])
})
