import { COLUMNS, type Column, type PathGraph, type PathLink } from './path-graph.ts'

/** What has a place in a column: a box, or a lane, by which a link passes the column. */
export interface Spot {
  readonly id: string
  readonly column: Column
  readonly isLane: boolean
}

/** A link with the steps that lead from column to column. */
export interface LanedLink {
  readonly link: PathLink
  readonly steps: readonly Pick<PathLink, 'from' | 'to'>[]
  readonly lanes: readonly Spot[]
}

/** The links of a graph. One that skips columns with boxes has a lane in each of these. */
export function withLanes({ boxes, links }: PathGraph): readonly LanedLink[] {
  const columnOf = new Map(boxes.map(({ id, column }) => [id, column]))
  const used = COLUMNS.filter((column) => boxes.some((box) => box.column === column))
  const rank = (id: string): number => used.indexOf(columnOf.get(id)!)
  return links.map((link) => {
    const { from, to } = link
    const lanes = used
      .slice(rank(from) + 1, rank(to))
      .map((column) => ({ id: `lane ${column} ${from} ${to}`, column, isLane: true }))
    const stops = [from, ...lanes.map(({ id }) => id), to]
    return { link, lanes, steps: stops.slice(1).map((next, at) => ({ from: stops[at]!, to: next })) }
  })
}

/** The boxes of a graph, and the lanes of its links. */
export const spotsOf = ({ boxes }: PathGraph, links: readonly LanedLink[]): readonly Spot[] => [
  ...boxes.map(({ id, column }) => ({ id, column, isLane: false })),
  ...links.flatMap(({ lanes }) => lanes),
]
