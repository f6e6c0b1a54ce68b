import { UNSEEN_NODE } from '@spout/model'
import type { ShardReport } from '@spout/model/node-report'
import { expect, it } from 'vitest'
import type { ShownNode } from '../api/nodes.ts'
import { nodeVerdict } from './node-verdict.ts'
import { shardsOf } from './shard-owners.ts'

const node = (name: string, status: object = {}, own: object = {}): ShownNode =>
  ({
    ...{ id: name, name, scheduling: 'enabled', ...own },
    status: { ...UNSEEN_NODE, nodeId: name, connection: 'connected', inSync: true, ...status },
  }) as unknown as ShownNode
const shard = (number: number, state: ShardReport['state'], at?: string): ShardReport => ({
  ...{ number, state, since: '2026-02-01T00:00:00Z', takeovers: 1 },
  lastMove: at === undefined ? null : { at, from: 'backup', to: 'master', reason: 'vrrp', silentMs: 72 },
})

it('a node is as bad as the worst that is known of it', () => {
  const problem = { code: 'NoFabricAddress', message: '' }
  expect(nodeVerdict(node('a'))).toEqual({ level: 'ok', text: 'ready' })
  expect(nodeVerdict(node('a', { inSync: false }))).toEqual({ level: 'warn', text: 'catching up' })
  const draining = { scheduling: 'draining', drainBegunAt: '2026-02-01T00:00:00Z' }
  expect(nodeVerdict(node('a', { announced: 3 }, draining))).toEqual({ level: 'warn', text: 'draining' })
  expect(nodeVerdict(node('a', {}, draining))).toEqual({ level: 'warn', text: 'drained' })
  expect(nodeVerdict(node('a', { problems: [problem] }, { scheduling: 'cordoned' }))).toEqual({
    level: 'bad',
    text: '1 problem',
  })
  expect(nodeVerdict(node('a', { connection: 'never' }))).toEqual({ level: 'warn', text: 'never seen' })
  expect(nodeVerdict(node('a', { connection: 'disconnected', problems: [problem] })).text).toBe('not connected')
})

it('shards have their masters by what connected nodes say', () => {
  const gone = node('gone', { connection: 'disconnected', shards: [shard(1, 'master'), shard(3, 'master')] })
  const a = node('a', { shards: [shard(1, 'master', '2026-02-01T10:00:00Z'), shard(2, 'backup')] })
  const b = node('b', { shards: [shard(2, 'master'), shard(1, 'fault')] })
  const names = (nodes: readonly ShownNode[]) => nodes.map(({ name }) => name)
  const shards = shardsOf([gone, b, a])
  expect(shards.map(({ number, masters }) => [number, names(masters)])).toEqual([
    [1, ['a']],
    [2, ['b']],
    [3, []],
  ])
  expect(shards.map(({ silentMasters }) => names(silentMasters))).toEqual([[], [], ['gone']])
  expect(shards[0]?.lastMove).toMatchObject({ node: { name: 'a' }, silentMs: 72 })
  expect(shards[0]?.out.map(({ node: { name }, shard: { state } }) => [name, state])).toEqual([['b', 'fault']])
  expect(shards[1]?.lastMove).toBeNull()
  expect(names(shards[1]?.backups ?? [])).toEqual(['a'])
})
