import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  type BalancedNode,
  type BalancedShard,
  moveUnderWay,
  planRebalance,
  rebalanceSteps,
  STEP_MS,
} from './rebalance.ts'

const node = (id: string, fields: Partial<BalancedNode> = {}): BalancedNode => ({
  ...{ id, name: id, scheduling: 'enabled', connection: 'connected', inSync: true, canAnnounce: true, unheard: false },
  ...fields,
})
const shard = (number: number, owner: string | null, fields: Partial<BalancedShard> = {}): BalancedShard => ({
  number,
  ownerNodeId: owner,
  state: owner === null ? 'no-owner' : 'settled',
  nodes: ['a', 'b', 'c'].map((nodeId) => ({ nodeId, state: nodeId === owner ? 'master' : 'backup', since: '' })),
  ...fields,
})
const move = (number: number, fromNodeId: string, toNodeId: string) => ({ shard: number, fromNodeId, toNodeId })

describe('planRebalance', () => {
  it('gives a returning node its part', () => {
    const shards = [1, 2, 3, 4].map((number) => shard(number, 'a'))
    expect(planRebalance(shards, [node('a'), node('b')])).toEqual([move(3, 'a', 'b'), move(4, 'a', 'b')])
  })

  it('moves nothing for less than a difference of two', () => {
    expect(planRebalance([shard(1, 'a'), shard(2, 'b'), shard(3, 'b')], [node('a'), node('b')])).toEqual([])
    expect(planRebalance([shard(1, 'b')], [node('a'), node('b'), node('c')])).toEqual([])
    expect(planRebalance([], [])).toEqual([])
  })

  it.each<[string, Partial<BalancedNode>]>([
    ['cordoned', { scheduling: 'cordoned' }],
    ['draining', { scheduling: 'draining' }],
    ['silent', { connection: 'disconnected' }],
    ['not in sync', { inSync: false }],
    ['without a session to a router', { canAnnounce: false }],
  ])('gives no shard to a node that is %s, and takes none from it', (_, fields) => {
    const shards = [1, 2, 3, 4].map((number) => shard(number, 'a'))
    expect(planRebalance(shards, [node('a'), node('b', fields)])).toEqual([])
    expect(planRebalance(shards, [node('a', fields), node('b')])).toEqual([])
  })

  it('leaves shards without an owner, or with two, alone', () => {
    const shards = [shard(1, 'a'), shard(2, null), shard(3, 'a', { state: 'two-owners' }), shard(4, 'a')]
    expect(planRebalance(shards, [node('a'), node('b')])).toEqual([move(4, 'a', 'b')])
  })
})

test('the moves are the fewest that even out the ready nodes to within one', () => {
  const ids = ['a', 'b', 'c', 'd', 'e']
  const owners = fc.array(fc.constantFrom(...ids), { maxLength: 16 })
  fc.assert(
    fc.property(owners, fc.subarray(ids, { minLength: 1 }), (given, ready) => {
      const shards = given.map((owner, at) => shard(at + 1, owner))
      const nodes = ids.map((id) => node(id, { inSync: ready.includes(id) }))
      const moves = planRebalance(shards, nodes)
      const count = (list: readonly string[]) => ready.map((id) => list.filter((owner) => owner === id).length)
      const after = given.map((owner, at) => moves.find((each) => each.shard === at + 1)?.toNodeId ?? owner)
      const [before, counts] = [count(given), count(after)]
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
      for (const { shard: number, fromNodeId, toNodeId } of moves) {
        expect(given[number - 1]).toBe(fromNodeId)
        expect(ready).toContain(toNodeId)
        expect(ready).toContain(fromNodeId)
      }
      // No distribution of the odd shards needs fewer moves.
      const total = before.reduce((sum, each) => sum + each, 0)
      const [least, odd] = [Math.floor(total / ready.length), total % ready.length]
      const needed = (quotas: readonly number[]) =>
        before.reduce((sum, each, at) => sum + Math.max(0, each - (quotas[at] ?? 0)), 0)
      const choices = Array.from({ length: 2 ** ready.length }, (_, bits) =>
        ready.map((_id, at) => (bits >> at) & 1),
      ).filter((extra) => extra.reduce((sum, each) => sum + each, 0) === odd)
      const fewest = Math.min(...choices.map((extra) => needed(extra.map((each) => least + each))))
      expect(moves).toHaveLength(fewest)
      // After these moves none is left to make.
      expect(
        planRebalance(
          after.map((owner, at) => shard(at + 1, owner)),
          nodes,
        ),
      ).toEqual([])
    }),
  )
})

describe('rebalanceSteps', () => {
  const askedAt = '2026-01-01T00:00:00.000Z'
  const request = { askedAt, moves: [move(3, 'a', 'b'), move(4, 'a', 'b')] }
  const nodes = [node('a'), node('b')]
  const at = (ms: number) => Date.parse(askedAt) + ms
  const states = (shards: readonly BalancedShard[], others = nodes, ms = 10) =>
    rebalanceSteps(request, shards, others, at(ms)).map(({ state, message }) => message ?? state)

  it('continues with the next when one is done', () => {
    expect(states([shard(3, 'a'), shard(4, 'a')])).toEqual(['moving', 'waiting'])
    expect(states([shard(3, null), shard(4, 'a')])).toEqual(['moving', 'waiting'])
    expect(states([shard(3, 'b'), shard(4, 'a')])).toEqual(['done', 'moving'])
    expect(states([shard(3, 'b'), shard(4, 'b')])).toEqual(['done', 'done'])
  })

  const both = [shard(3, 'a'), shard(4, 'a')]
  const faulty = shard(3, 'a', { nodes: [{ nodeId: 'b', state: 'fault', since: '' }] })
  const step = (shards: readonly BalancedShard[], others: readonly BalancedNode[], ms: number) =>
    rebalanceSteps(request, shards, others, at(ms)).map(({ state, message }) => [state, message])

  it.each<[string, readonly BalancedShard[], readonly BalancedNode[]]>([
    ['node b is disconnected', both, [node('a'), node('b', { connection: 'disconnected' })]],
    ['node b does not hold everything yet', both, [node('a'), node('b', { inSync: false })]],
    ['node b takes no part in the shard', [faulty, shard(4, 'a')], nodes],
  ])('times out while %s', (message, shards, others) => {
    expect(step(shards, others, 10)).toEqual([
      ['moving', message],
      ['waiting', null],
    ])
    expect(step(shards, others, STEP_MS)).toEqual([
      ['failed', message],
      ['waiting', null],
    ])
  })

  it('stops at the first that fails, and says why', () => {
    expect(step(both, [node('a')], 10)[0]).toEqual(['failed', 'the shard or its new owner is gone'])
    expect(step([shard(3, 'c'), shard(4, 'a')], nodes, 10)[0]).toEqual(['failed', 'the shard has another owner by now'])
    expect(states(both, nodes, STEP_MS)).toEqual(['it was not taken over in time', 'waiting'])
    expect(moveUnderWay(rebalanceSteps(request, both, nodes, at(STEP_MS)))).toBe(null)
  })

  it('does not take a shard for gone while a node of it has not reported yet', () => {
    const unheard = node('b', { connection: 'disconnected', canAnnounce: false, unheard: true })
    expect(step([], [node('a'), unheard], 2 * STEP_MS)).toEqual([
      ['waiting', 'node b has not reported since the start'],
      ['waiting', null],
    ])
    expect(step([], nodes, 10)[0]).toEqual(['failed', 'the shard or its new owner is gone'])
  })

  it('ends after a time, whatever the owners are then', () => {
    expect(states([shard(3, 'b'), shard(4, 'a')], nodes, STEP_MS)).toEqual(['done', 'moving'])
    expect(states([shard(3, 'b'), shard(4, 'a')], nodes, 2 * STEP_MS)).toEqual([
      'done',
      'it was not taken over in time',
    ])
  })
})
