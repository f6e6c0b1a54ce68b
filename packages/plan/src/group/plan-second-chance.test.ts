import type { NodeGroup } from '@spout/model'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { GroupNode } from '../announcers/group-node.ts'
import { planSecondChance } from './plan-second-chance.ts'

const T0 = Date.parse('2026-01-01T00:00:00.000Z')
const at = (seconds: number): string => new Date(T0 + 1000 * seconds).toISOString()

const node = (number: number, fields: Partial<GroupNode> = {}): GroupNode => ({
  id: `node-${number}`,
  name: `n${number}`,
  scheduling: 'enabled',
  schedulingSince: null,
  drainedSince: null,
  fabricAddress: `192.0.2.${number}`,
  connection: 'connected',
  ...fields,
})
const drained = (number: number, seconds: number, fields: Partial<GroupNode> = {}): GroupNode =>
  node(number, { scheduling: 'draining', schedulingSince: at(seconds), drainedSince: at(seconds), ...fields })

const plan = (nodes: readonly GroupNode[], nowS = 0, announcer: NodeGroup['announcer'] = 'vrrp', seconds = 300) => {
  const { byNode, againAtMs } = planSecondChance({ announcer, secondChanceSeconds: seconds }, nodes, T0 + 1000 * nowS)
  const ways = Object.fromEntries(Array.from(byNode, ([id, { first, next }]) => [id, [first, next]]))
  return { byNode, ways, againAtS: againAtMs === null ? null : (againAtMs - T0) / 1000 }
}

describe('a second chance', () => {
  it('is absent without a move, long after one, and where the group has none', () => {
    expect(plan([node(1), node(2)]).byNode.size).toBe(0)
    expect(plan([drained(1, 0), node(2)], 300).byNode.size).toBe(0)
    expect(plan([drained(1, 0), node(2)], 0, 'vrrp', 0).byNode.size).toBe(0)
  })

  it('leads from the other nodes to the drained one, until its time is up', () => {
    const { byNode, againAtS } = plan([drained(1, 0), node(2), node(3)], 10)
    const times = { since: at(0), seconds: 300 }
    const way = { first: '192.0.2.1', firstNode: 'node-1', next: null, leavingSince: null, ...times }
    expect(byNode.get('node-2')).toEqual(way)
    expect(byNode.get('node-3')).toEqual(way)
    expect(byNode.get('node-1')).toEqual({ first: null, next: null, leavingSince: at(0), ...times })
    expect(againAtS).toBe(300)
  })

  it('outlasts the drain', () => {
    const back = node(1, { schedulingSince: at(5), drainedSince: at(0) })
    const { ways, byNode } = plan([back, node(2)], 10)
    expect(ways).toEqual({ 'node-1': [null, null], 'node-2': ['192.0.2.1', null] })
    // Its proxy still asks the remaining clients to reconnect.
    expect(byNode.get('node-1')?.leavingSince).toBe(at(0))
    expect(plan([{ ...back, departed: true }, node(2)], 10).byNode.size).toBe(0)
  })

  it('leads from the node drained last to the one before it', () => {
    const nodes = [node(1, { schedulingSince: at(20), drainedSince: at(0) }), drained(2, 60), node(3)]
    const { ways, againAtS, byNode } = plan(nodes, 61)
    expect(ways).toEqual({
      'node-1': ['192.0.2.2', null],
      'node-2': ['192.0.2.1', '192.0.2.1'],
      'node-3': ['192.0.2.2', null],
    })
    expect(byNode.get('node-3')?.since).toBe(at(60))
    expect(byNode.get('node-2')).toMatchObject({ firstNode: 'node-1', nextNode: 'node-1' })
    expect(againAtS).toBe(300)
    expect(plan(nodes, 301).ways).toEqual({
      'node-1': ['192.0.2.2', null],
      'node-2': [null, null],
      'node-3': ['192.0.2.2', null],
    })
  })

  it.each<[string, Partial<GroupNode>]>([
    ['is lost', { connection: 'lost' }],
    ['was never there', { connection: 'never' }],
    ['has no address', { fabricAddress: null }],
    ['has no client left', { departed: true }],
  ])('does not lead to a node that %s', (_what, fields) => {
    expect(plan([drained(1, 0, fields), node(2)]).ways['node-2']).toBeUndefined()
  })

  it('is not given by a node without a successor', () => {
    expect(plan([drained(1, 0), node(2, { connection: 'lost' })]).byNode.get('node-1')).toBeUndefined()
  })

  it('ends early for the others, not for the node that drained its clients', () => {
    const { byNode } = plan([drained(1, 0, { departed: true }), node(2)], 10)
    expect(Array.from(byNode.keys())).toEqual(['node-1'])
    expect(byNode.get('node-1')).toMatchObject({ first: null, leavingSince: at(0) })
  })

  it('tells a node that stays which shards it hands over, while it lasts', () => {
    const gives = node(1, { movedSince: at(0), movedShards: [2, 4] })
    const { byNode } = plan([gives, node(2)], 10)
    const handedOver = { shards: [2, 4], since: at(0) }
    expect(byNode.get('node-1')).toMatchObject({ first: null, leavingSince: null, handedOver })
    expect(byNode.get('node-2')).toEqual({
      ...{ first: '192.0.2.1', firstNode: 'node-1', next: null, leavingSince: null, since: at(0), seconds: 300 },
    })
    expect(plan([gives, node(2)], 300).byNode.size).toBe(0)
  })

  it('leads with BGP to every node in turn, also when a node returns', () => {
    const nodes = [node(1), node(2, { schedulingSince: at(900), drainedSince: at(0) }), node(3)]
    expect(plan(nodes, 900).ways).toEqual({})
    expect(plan(nodes, 900, 'bgp').ways).toEqual({
      'node-1': ['192.0.2.2', '192.0.2.2'],
      'node-2': ['192.0.2.1', '192.0.2.3'],
      'node-3': ['192.0.2.1', null],
    })
    // The others give up what the returning node takes over.
    const leaving = Array.from(plan(nodes, 900, 'bgp').byNode, ([id, { leavingSince }]) => [id, leavingSince])
    expect(leaving).toEqual([
      ['node-1', at(900)],
      ['node-2', null],
      ['node-3', at(900)],
    ])
    expect(plan(nodes, 1200, 'bgp').byNode.size).toBe(0)
  })
})

test('in any order of drains, a packet visits each node at most once more after being forwarded', () => {
  const anyNode = fc.record({
    scheduling: fc.constantFrom('enabled' as const, 'cordoned' as const, 'draining' as const),
    drained: fc.option(fc.integer({ min: 0, max: 400 })),
    connection: fc.constantFrom('connected' as const, 'disconnected' as const, 'lost' as const),
  })
  fc.assert(
    fc.property(
      fc.array(anyNode, { minLength: 1, maxLength: 12 }),
      fc.constantFrom('vrrp', 'bgp', 'l2'),
      (some, announcer) => {
        const nodes = some.map(({ scheduling, drained: since, connection }, index) =>
          node(index + 1, {
            ...{ scheduling, connection },
            ...(since === null ? {} : { drainedSince: at(since), schedulingSince: at(since) }),
          }),
        )
        const { ways } = plan(nodes, 400, announcer as NodeGroup['announcer'])
        const idAt = (address: string): string => nodes.find(({ fabricAddress }) => fabricAddress === address)!.id
        for (const { id } of nodes) {
          const visited: string[] = []
          for (let hop = ways[id]?.[0] ?? null; hop !== null; hop = ways[idAt(hop)]?.[1] ?? null) {
            expect(visited).not.toContain(hop)
            visited.push(hop)
          }
          expect(visited.length).toBeLessThanOrEqual(8)
          expect(visited[0]).not.toBe(nodes.find((one) => one.id === id)?.fabricAddress)
        }
      },
    ),
  )
})
