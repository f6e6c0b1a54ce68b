import { type Panel, ROWS } from './panels.ts'

/** Grafana's grid has 24 columns. */
const WIDTH = { number: 4, graph: 8 }
const HEIGHT = 7
const COLUMNS = 24

/** The dashboard as Grafana imports it. */
export const dashboardJson = (): string => `${JSON.stringify(dashboard(), null, 2)}\n`

function dashboard(): object {
  const panels: object[] = []
  let y = 0
  for (const [title, row] of Object.entries(ROWS)) {
    panels.push({ id: panels.length + 1, type: 'row', title, gridPos: { x: 0, y, w: COLUMNS, h: 1 }, panels: [] })
    y++
    let x = 0
    for (const panel of row) {
      const w = panel.isNumber ? WIDTH.number : WIDTH.graph
      if (x + w > COLUMNS) [x, y] = [0, y + HEIGHT]
      panels.push({ id: panels.length + 1, ...panelOf(panel), gridPos: { x, y, w, h: HEIGHT } })
      x += w
    }
    y += HEIGHT
  }
  return {
    uid: 'spout',
    title: 'Spout',
    tags: ['spout'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: [{ name: 'source', label: 'Data source', type: 'datasource', query: 'prometheus' }] },
    panels,
  }
}

function panelOf({ title, series, unit = 'short', isNumber }: Panel): object {
  const datasource = { type: 'prometheus', uid: '$source' }
  return {
    type: isNumber ? 'stat' : 'timeseries',
    title,
    datasource,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: Object.entries(series).map(([legendFormat, expr], index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource,
      expr,
      legendFormat,
    })),
  }
}
