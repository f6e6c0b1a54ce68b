import { describe, expect, it } from 'vitest'
import { pathGraph } from './path-graph.ts'
import { curve, layOut, leastWidth } from './path-layout.ts'
import { explanation, listener, member, pool } from './testing/explanation.ts'

const graph = pathGraph(
  explanation({
    listeners: [listener('first', { poolId: 'b' }), listener('second', { poolId: 'a', port: 443 })],
    pools: [pool('a', [member('a1'), member('a2'), member('a3')]), pool('b', [member('b1')])],
  }),
)

/** A route that answers itself, beside a default pool: the pool's link passes the column of the route. */
const withRoute = pathGraph(
  explanation({
    listeners: [
      listener('first', {
        poolId: 'b',
        routes: [
          {
            ...{ id: 'gone', name: 'gone', enabled: true, reached: true, conditions: [] },
            action: { type: 'respond', code: 410 },
          },
        ],
      }),
    ],
    pools: [pool('b', [member('b1')])],
  }),
)

describe('layOut', () => {
  it('places every box once, none over another, within the drawing', () => {
    const { places, width, height } = layOut(graph, 1000)
    expect([...places.keys()].toSorted()).toEqual(graph.boxes.map(({ id }) => id).toSorted())
    const all = [...places.values()]
    for (const [at, a] of all.entries()) {
      expect(a.x).toBeGreaterThanOrEqual(0)
      expect(a.y).toBeGreaterThanOrEqual(0)
      expect(a.x + a.width).toBeLessThanOrEqual(width)
      expect(a.y + a.height).toBeLessThanOrEqual(height)
      for (const b of all.slice(at + 1)) expect(a.x === b.x && a.y < b.y + b.height && b.y < a.y + a.height).toBe(false)
    }
  })

  it('uses the room that there is, and no more', () => {
    for (const room of [leastWidth(graph), 900, 1200]) expect(layOut(graph, room).width).toBeLessThanOrEqual(room + 3)
  })

  it('places pools beside the listeners that lead to them, so that links cross little', () => {
    const { places } = layOut(graph, 1000)
    expect(places.get('pool b')?.y).toBeLessThan(places.get('pool a')?.y ?? 0)
    expect(places.get('member b1')?.y).toBeLessThan(places.get('member a1')?.y ?? 0)
  })

  it('leads a link that skips a column behind no box of it', () => {
    const { places, lines } = layOut(withRoute, 1000)
    const route = places.get('route gone')!
    const { d } = lines.find(({ from, to }) => from === 'listener first' && to === 'pool b')!
    const points = [...d.matchAll(/[\d.]+ [\d.]+/g)].map(([point]) => point.split(' ').map(Number))
    const passing = points.filter(([x]) => x! >= route.x && x! <= route.x + route.width)
    expect(passing).toHaveLength(2)
    for (const [, y] of passing) expect(y! < route.y || y! > route.y + route.height).toBe(true)
  })

  it('draws every link once', () => {
    for (const one of [graph, withRoute])
      expect(layOut(one, 1000).lines.map(({ d: _, ...link }) => link)).toEqual(one.links)
  })
})

it('draws a curve between the facing edges', () => {
  const place = { y: 0, width: 100, height: 50 }
  expect(curve({ ...place, x: 0 }, { ...place, x: 140, y: 60 })).toBe('M100 25C120 25 120 85 140 85')
})
