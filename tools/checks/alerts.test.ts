import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { anchorOf } from '../../packages/kubernetes-manifests/src/monitoring/alert.ts'
import { ALERTS } from '../../packages/kubernetes-manifests/src/monitoring/alerts.ts'
import { ROWS } from '../../packages/kubernetes-manifests/src/monitoring/panels.ts'
import { METRICS } from '../reference/metrics.ts'

const RUNBOOK = readFileSync(path.resolve(import.meta.dirname, '../../docs/runbook.md'), 'utf8')
const HEADINGS = [...RUNBOOK.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading)
const metrics = new Map(
  Object.values(METRICS)
    .flat()
    .map((metric) => [metric.name, metric]),
)

/** Labels that Prometheus adds to what it scrapes, and the one of a histogram's parts. */
const OWN_LABELS = ['job', 'instance', 'le']

/** What an expression names that no program has. */
function unknownIn(expression: string): readonly string[] {
  const unknown: string[] = []
  const labels = new Set(OWN_LABELS)
  for (const [used] of expression.matchAll(/\b(?:spout|process)_[a-z_]+/g)) {
    const metric = metrics.get(used) ?? metrics.get(used.replace(/_(bucket|count|sum)$/, ''))
    if (metric === undefined || (metric.type === 'histogram') !== (metric.name !== used)) unknown.push(used)
    for (const label of metric?.labels ?? []) labels.add(label)
  }
  const named = [
    ...[...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', ')),
    ...[...expression.matchAll(/[{,]([a-z]+)(?:=~|!=|=)/g)].map(([, label = '']) => label),
  ]
  return [...unknown, ...named.filter((label) => !labels.has(label))]
}

it('finds metrics and labels that there are not', () => {
  const wrong = 'max by (group, colour) (spout_node_conected{group="a"}) + spout_failover_seconds'
  expect(unknownIn(wrong)).toEqual(['spout_node_conected', 'spout_failover_seconds', 'colour'])
})

it.each(ALERTS)('$name is of metrics that there are, and has its section in the runbook', (alert) => {
  expect(unknownIn(alert.expression)).toEqual([])
  expect(HEADINGS).toContain(alert.heading)
  expect(RUNBOOK).toContain(`](#${anchorOf(alert.heading)})`)
  const labels = [...`${alert.summary}${alert.description}`.matchAll(/\$labels\.([a-z]+)/g)].map(([, label]) => label)
  const kept = /\bby \(([^)]*)\)/.exec(alert.expression)?.[1]?.split(', ')
  if (kept !== undefined) for (const label of labels) expect(kept).toContain(label)
})

it('alerts have different names', () => {
  expect(new Set(ALERTS.map(({ name }) => name)).size).toBe(ALERTS.length)
})

it.each(Object.values(ROWS).flat())('the panel "$title" is of metrics that there are', ({ series }) => {
  for (const [legend, expression] of Object.entries(series)) {
    expect(unknownIn(expression)).toEqual([])
    // A label of a legend must have outlived the aggregation.
    const kept = /\bby \(([^)]*)\)/.exec(expression)?.[1]?.split(', ')
    for (const [, label = ''] of legend.matchAll(/\{\{([a-z]+)\}\}/g))
      if (kept !== undefined) expect(kept).toContain(label)
  }
})
