import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { usualHops } from './usual-hops.ts'

const hopsOf = (nodes: readonly string[]) =>
  new Map(nodes.map((source) => [source, usualHops({ source, peers: nodes.filter((node) => node !== source) })]))

/** The nodes that a packet reaches which none of them knows, from the one that a client reaches. */
function visited(nodes: readonly string[], from: string): readonly string[] {
  const hops = hopsOf(nodes)
  const places = [from]
  for (let at = hops.get(from)?.first ?? null; at !== null; at = hops.get(at)?.next ?? null) {
    places.push(at)
    if (places.length > 2 * nodes.length) throw new Error('it goes in a circle')
  }
  return places
}

describe('where packets of unknown flows go while no move is planned', () => {
  it('is the other node of two', () => {
    const hops = hopsOf(['198.51.100.4', '198.51.100.5'])
    expect(hops.get('198.51.100.4')?.first).toBe('198.51.100.5')
    expect(hops.get('198.51.100.5')).toEqual({ first: '198.51.100.4', next: null })
  })

  it('is nowhere for a node alone', () => {
    expect(usualHops(null)).toEqual({ first: null, next: null })
    expect(usualHops({ source: '198.51.100.4', peers: [] })).toEqual({ first: null, next: null })
  })

  it('is every other node, and ends, wherever a client comes', () => {
    const someNodes = fc.uniqueArray(fc.ipV4(), { minLength: 2, maxLength: 8 })
    fc.assert(
      fc.property(someNodes, fc.nat(), (nodes, at) => {
        const from = nodes[at % nodes.length]!
        expect(new Set(visited(nodes, from))).toEqual(new Set(nodes))
      }),
    )
  })

  it('ends in a group of more nodes than a packet visits', () => {
    const nodes = Array.from({ length: 20 }, (_, index) => `198.51.100.${index + 100}`)
    for (const from of nodes) expect(visited(nodes, from).length).toBeLessThanOrEqual(9)
  })
})
