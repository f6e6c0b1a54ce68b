/** Which other files each file depends on. Paths are relative to the repository's root. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>

/**
 * The circles of a graph: sets of two or more nodes of which each reaches every other (strongly connected components,
 * R. Tarjan, "Depth-first search and linear graph algorithms", 1972). Nodes are sorted within a circle, and so are
 * circles.
 */
export function circlesOf(graph: Graph): readonly (readonly string[])[] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const open = new Set<string>()
  const circles: string[][] = []

  const visit = (node: string): void => {
    order.set(node, order.size)
    lowest.set(node, order.get(node)!)
    stack.push(node)
    open.add(node)
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) visit(next)
      if (open.has(next)) lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!))
    }
    if (lowest.get(node) !== order.get(node)) return
    const circle = stack.splice(stack.indexOf(node))
    for (const one of circle) open.delete(one)
    if (circle.length > 1) circles.push(circle.sort())
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return circles.sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
}
