import { expect, test } from 'vitest'
import { Metrics } from './metrics.ts'

test('counts, observes and reads snapshots at scrape time', async () => {
  const metrics = new Metrics({ maxSeries: 2 })
  const requests = metrics.counter({ name: 'requests_total', help: 'h', labels: ['surface'] })
  requests.add({ surface: 'octavia' })
  requests.add({ surface: 'octavia' }, 2)
  metrics.histogram({ name: 'seconds', help: 'h', labels: [], buckets: [1, 2] }).observe({}, 1.5)
  let nodes = ['a', 'b', 'c']
  metrics.gauge({ name: 'node_up', help: 'h', labels: ['node'] }, () =>
    nodes.map((node) => ({ labels: { node }, value: 1 })),
  )
  metrics.counters({ name: 'bytes_total', help: 'h', labels: ['listener'] }, () => [
    { labels: { listener: 'x' }, value: 7 },
  ])
  const first = await metrics.text()
  expect(first).toContain('requests_total{surface="octavia"} 3')
  expect(first).toContain('seconds_bucket{le="2"} 1')
  expect(first).toContain('bytes_total{listener="x"} 7')
  expect(first).not.toContain('node_up{node="c"}')
  nodes = ['c']
  const second = await metrics.text()
  expect(second).toContain('spout_metrics_cut_series_total{metric="node_up"} 1')
  expect(second).toContain('node_up{node="c"} 1')
  expect(second).not.toContain('node_up{node="a"}')
  expect(second).toContain('bytes_total{listener="x"} 7')
})
