import { COLUMNS, type Column, type PathGraph, type PathLink } from './path-graph.ts'
import { type Spot, spotsOf, withLanes } from './path-lanes.ts'

export interface Place {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface PathLayout {
  /** By id of the box, in pixels. */
  readonly places: ReadonlyMap<string, Place>
  /** The links, each with its line as path data of SVG. */
  readonly lines: readonly (PathLink & { readonly d: string })[]
  /** The columns that have boxes, with their left edge. */
  readonly columns: readonly { readonly column: Column; readonly x: number; readonly width: number }[]
  readonly width: number
  readonly height: number
}

const GAP_Y = 10
const GAP_X = 22
const CLIENT_WIDTH = 70
const LEAST_WIDTH = 118
const MOST_WIDTH = 210
const HEIGHT = 52
/** Where a link passes a column without a box. */
const LANE_HEIGHT = 12

/** Below this width the path is a list. */
export const leastWidth = (graph: PathGraph): number => {
  const columns = usedColumns(graph).length
  return CLIENT_WIDTH + (columns - 1) * (LEAST_WIDTH + GAP_X)
}

/**
 * Places the boxes in columns, in the order in which the path meets them. A column is as high as its boxes need; shorter
 * ones are centred against the highest. A link that skips a column has a place of its own there, so that it runs behind
 * no box.
 * @param room the width that there is, in pixels
 */
export function layOut(graph: PathGraph, room: number): PathLayout {
  const used = usedColumns(graph)
  const others = Math.max(1, used.length - 1)
  const free = (room - CLIENT_WIDTH) / others - GAP_X
  const width = Math.round(Math.max(LEAST_WIDTH, Math.min(MOST_WIDTH, free)))
  const widthOf = (column: Column): number => (column === 'client' ? CLIENT_WIDTH : width)
  const lanes = withLanes(graph)
  const stacks = ordered(
    spotsOf(graph, lanes),
    lanes.flatMap(({ steps }) => steps),
    used,
  )
  const heightOf = (spots: readonly Spot[]): number =>
    spots.reduce((sum, { isLane }) => sum + (isLane ? LANE_HEIGHT : HEIGHT) + GAP_Y, -GAP_Y)
  const height = Math.max(...stacks.map(heightOf))
  const all = new Map<string, Place>()
  const places = new Map<string, Place>()
  const columns: { column: Column; x: number; width: number }[] = []
  let x = 0
  for (const [at, column] of used.entries()) {
    const spots = stacks[at] ?? []
    columns.push({ column, x, width: widthOf(column) })
    let y = (height - heightOf(spots)) / 2
    for (const { id, isLane } of spots) {
      const place = { x, y, width: widthOf(column), height: isLane ? LANE_HEIGHT : HEIGHT }
      all.set(id, place)
      if (!isLane) places.set(id, place)
      y += place.height + GAP_Y
    }
    x += widthOf(column) + GAP_X
  }
  const lines = lanes.map(({ link, steps }) => ({
    ...link,
    d: line(steps.map(({ from, to }) => [all.get(from), all.get(to)])),
  }))
  return { places, lines, columns, width: x - GAP_X, height }
}

const usedColumns = ({ boxes }: PathGraph): readonly Column[] => {
  const used = new Set(boxes.map(({ column }) => column))
  return COLUMNS.filter((column) => used.has(column))
}

/**
 * The boxes of each column, near the boxes that lead to them: by the mean row of these (the barycentre rule of layered
 * drawings). Boxes that are alike keep the order of the document.
 */
function ordered(
  all: readonly Spot[],
  links: readonly Pick<PathLink, 'from' | 'to'>[],
  columns: readonly Column[],
): readonly (readonly Spot[])[] {
  const rows = new Map<string, number>()
  const sources = Map.groupBy(links, ({ to }) => to)
  const meanRow = ({ id }: Spot): number => {
    const before = (sources.get(id) ?? []).flatMap(({ from }) => rows.get(from) ?? [])
    return before.length === 0 ? 0 : before.reduce((sum, row) => sum + row, 0) / before.length
  }
  return columns.map((column) => {
    const means = all.filter((spot) => spot.column === column).map((spot) => ({ spot, mean: meanRow(spot) }))
    const stack = means.toSorted((a, b) => a.mean - b.mean).map(({ spot }) => spot)
    for (const [row, { id }] of stack.entries()) rows.set(id, row - (stack.length - 1) / 2)
    return stack
  })
}

/** A line over these steps: a curve between two places, and straight through a lane. */
const line = (steps: readonly (readonly [Place | undefined, Place | undefined])[]): string =>
  steps.flatMap(([from, to], at) => (from && to ? [curve(from, to, at === 0 ? 'M' : 'L')] : [])).join('')

/**
 * A curve from the right edge of one place to the left edge of another, as path data of SVG.
 * @param begin `L`: a line leads there from where the data before ended
 */
export function curve(from: Place, to: Place, begin: 'M' | 'L' = 'M'): string {
  const [x1, y1] = [from.x + from.width, from.y + from.height / 2]
  const [x2, y2] = [to.x, to.y + to.height / 2]
  const bend = Math.min(60, (x2 - x1) / 2)
  return `${begin}${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
}
