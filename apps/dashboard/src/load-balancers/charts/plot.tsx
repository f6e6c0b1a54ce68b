import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { Figures } from '@spout/model'
import { type Chart, columnsOf } from './chart-list.ts'
import styles from './plot.module.css'

const HEIGHT = 200

interface Props {
  readonly chart: Chart
  readonly figures: Figures
}

/** One chart. Its words stand beside it: the picture says nothing to screen readers. */
export function Plot({ chart, figures }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const names = chart.series.map(({ figure }) => figure).join()
  const plot = useRef<UPlot>(null)
  const data = useRef<UPlot.AlignedData>([[]])
  data.current = columnsOf(figures, chart) as unknown as UPlot.AlignedData

  // biome-ignore lint/correctness/useExhaustiveDependencies: another set of series is another chart
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const draw = (): void => {
      plot.current?.destroy()
      plot.current = new UPlot(optionsOf(chart, element.clientWidth), data.current, element)
    }
    draw()
    const watch = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }))
    watch.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', draw)
    return () => {
      watch.disconnect()
      scheme.removeEventListener('change', draw)
      plot.current?.destroy()
      plot.current = null
    }
  }, [names])

  // biome-ignore lint/correctness/useExhaustiveDependencies: new figures are new data
  useEffect(() => plot.current?.setData(data.current), [figures])
  return <div ref={place} className={styles.plot} aria-hidden="true" />
}

/** A line needs two points: fewer are shown as such. */
const isLonely = ({ data }: UPlot, series: number): boolean =>
  (data[series] ?? []).filter((value) => value !== null).length < 2

const clockText = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })

function optionsOf({ series, text, steps }: Chart, width: number): UPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string): string => resolved(style.getPropertyValue(name))
  const axis = {
    stroke: colour('--ink-soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  }
  return {
    width,
    height: HEIGHT,
    legend: { live: true },
    cursor: { y: false, points: { size: 7 } },
    scales: { y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [
      { ...axis, values: (_plot, values) => values.map(clockText) },
      { ...axis, size: 66, values: (_plot, values) => values.map(text), ...(steps && { incrs: [...steps] }) },
    ],
    series: [
      { value: (_plot, at) => (at === null ? '' : new Date(at * 1000).toLocaleTimeString()) },
      ...series.map(({ title, colour: name }) => ({
        label: title,
        stroke: colour(name),
        width: 2,
        points: { show: isLonely, size: 5 },
        value: (_plot: UPlot, value: number | null, _series: number, at: number | null) =>
          at === null ? '' : value === null ? '–' : text(value),
      })),
    ],
  }
}

/** A canvas does not know `light-dark()`: the browser resolves it on an element. */
function resolved(value: string): string {
  const probe = document.createElement('span')
  probe.style.color = value
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
