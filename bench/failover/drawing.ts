import type { BenchRow, Distribution } from '../row.ts'

const [WIDTH, LEFT, RIGHT, TOP, LINE, HEAD] = [900, 250, 150, 64, 24, 34]
const [FROM_MS, UNTIL_MS] = [1, 300_000]
const TICKS = [1, 10, 100, 1000, 10_000, 100_000] as const
const OURS = '#0b7a75'
const PEERS = '#c2571a'
const INK = '#7a7f87'

const x = (ms: number): number => {
  const inside = Math.min(UNTIL_MS, Math.max(FROM_MS, ms))
  return LEFT + ((WIDTH - LEFT - RIGHT) * Math.log(inside / FROM_MS)) / Math.log(UNTIL_MS / FROM_MS)
}

const shown = (ms: number): string =>
  ms >= 1000 ? `${Number((ms / 1000).toPrecision(3))} s` : `${Number(ms.toPrecision(3))} ms`

const escaped = (text: string): string => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** A dot for every run, by series, on a logarithmic axis; readable on light and dark, with the reader's own fonts. */
export function drawing(rows: readonly BenchRow[]): string {
  const drawn = rows.filter(({ distributions }) => Object.keys(distributions ?? {}).length > 0)
  const parts: string[] = []
  let y = TOP
  for (const { name, distributions = {} } of drawn) {
    parts.push(`<text x="12" y="${y + 16}" class="head">${escaped(name)}</text>`)
    y += HEAD - 8
    for (const [series, samples] of Object.entries(distributions)) {
      parts.push(strip(series, samples, y))
      y += LINE
    }
    y += 12
  }
  const height = y + 16
  const axis = TICKS.map(
    (ms) =>
      `<line x1="${x(ms).toFixed(1)}" x2="${x(ms).toFixed(1)}" y1="${TOP - 12}" y2="${y}" class="grid"/>` +
      `<text x="${x(ms).toFixed(1)}" y="${TOP - 18}" text-anchor="middle">${shown(ms)}</text>`,
  )
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="How long traffic pauses when a node fails">`,
    `<style>text{font:13px system-ui,sans-serif;fill:${INK}}.head{font-weight:600}.title{font-size:15px;font-weight:600}.grid{stroke:${INK};stroke-opacity:.25}.ours{fill:${OURS}}.peers{fill:${PEERS}}circle{fill-opacity:.55}rect{fill-opacity:.9}</style>`,
    `<text x="12" y="24" class="title">How long traffic pauses: a dot for each run, a bar at the 99th percentile</text>`,
    `<text x="${WIDTH - RIGHT + 12}" y="${TOP - 18}">median / 99th</text>`,
    ...axis,
    ...parts,
    '</svg>',
  ].join('\n')}\n`
}

function strip(series: string, { samplesMs, p50, p99 }: Distribution, y: number): string {
  const kind = series.startsWith('Spout') ? 'ours' : 'peers'
  const middle = y + LINE / 2
  const dots = samplesMs.map((ms, run) => {
    // Runs with the same figure would cover each other: each has its own height.
    const height = middle - 5 + ((run * 7) % 11)
    return `<circle cx="${x(ms).toFixed(1)}" cy="${height.toFixed(1)}" r="3" class="${kind}"/>`
  })
  return [
    `<text x="${LEFT - 12}" y="${middle + 4}" text-anchor="end">${escaped(series)}</text>`,
    ...dots,
    `<rect x="${(x(p99) - 1.5).toFixed(1)}" y="${middle - 10}" width="3" height="20" class="${kind}"/>`,
    `<text x="${WIDTH - RIGHT + 12}" y="${middle + 4}">${shown(p50)} / ${shown(p99)}</text>`,
  ].join('')
}
