import { describe, expect, it } from 'vitest'
import type { BalancedNode, BalancedShard, MoveStep } from './rebalance.ts'
import { mayLeaveUntilMs, planShardFailover, withMove } from './shard-failover.ts'

const node = (id: string, fields: Partial<BalancedNode> = {}): BalancedNode => ({
  ...{ id, name: id, scheduling: 'enabled', connection: 'connected', inSync: true, canAnnounce: true, unheard: false },
  ...fields,
})
const shard = (number: number, owner: string | null): BalancedShard => ({
  number,
  ownerNodeId: owner,
  state: owner === null ? 'no-owner' : 'settled',
  nodes: ['a', 'b', 'c'].map((nodeId) => ({ nodeId, state: nodeId === owner ? 'master' : 'backup', since: '' })),
})

describe('planShardFailover', () => {
  const shards = [shard(1, 'a'), shard(2, 'b'), shard(3, 'b')]
  const failover = (nodes: readonly BalancedNode[], of = shards[0]!) => planShardFailover(of, shards, nodes)

  it('moves the shard to the node with the fewest', () => {
    expect(failover([node('a'), node('b'), node('c')])).toEqual({ shard: 1, fromNodeId: 'a', toNodeId: 'c' })
    expect(failover([node('a'), node('b')])).toEqual({ shard: 1, fromNodeId: 'a', toNodeId: 'b' })
  })

  it.each<[string, Partial<BalancedNode>]>([
    ['is cordoned', { scheduling: 'cordoned' }],
    ['is silent', { connection: 'disconnected' }],
    ['is not in sync', { inSync: false }],
    ['takes no part in it', { id: 'd' }],
  ])('passes over a node that %s', (_, fields) => {
    expect(failover([node('a'), node('b'), node('c', fields)])?.toNodeId).toBe('b')
    expect(failover([node('a'), node('c', fields)])).toBeNull()
  })

  it('leaves a shard without an owner to the election', () => {
    expect(failover([node('a'), node('b')], shard(1, null))).toBeNull()
  })
})

describe('withMove', () => {
  const step = (number: number, state: MoveStep['state']): MoveStep => ({
    ...{ shard: number, fromNodeId: 'a', toNodeId: 'b' },
    ...{ state, message: null },
  })
  it('comes before what is under way, and replaces its own shard and what failed', () => {
    const move = { shard: 2, fromNodeId: 'b', toNodeId: 'c' }
    const moves = withMove(move, [step(1, 'done'), step(2, 'moving'), step(3, 'failed'), step(4, 'waiting')])
    const kept = (number: number) => ({ shard: number, fromNodeId: 'a', toNodeId: 'b' })
    expect(moves).toEqual([move, kept(1), kept(4)])
  })
})

describe('mayLeaveUntilMs', () => {
  const askedAt = '2026-01-01T00:00:00.000Z'
  const moves = [1, 2].map((number) => ({ shard: number, fromNodeId: 'a', toNodeId: 'b' }))
  const until = (number: number, from: string) => mayLeaveUntilMs({ rebalance: { askedAt, moves } }, number, from)

  it('counts a time for each move before it', () => {
    expect([until(1, 'a'), until(2, 'a')]).toEqual([15_000, 30_000].map((ms) => Date.parse(askedAt) + ms))
  })

  it('is null for another shard, another node, and a group without moves', () => {
    expect([until(3, 'a'), until(1, 'b'), mayLeaveUntilMs({}, 1, 'a')]).toEqual([null, null, null])
  })
})
