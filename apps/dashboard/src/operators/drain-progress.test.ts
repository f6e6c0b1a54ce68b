import { UNSEEN_NODE } from '@spout/model'
import { expect, it } from 'vitest'
import type { ShownNode } from '../api/nodes.ts'
import { drainProgress } from './drain-progress.ts'

it('says what is left of a drain, step by step', () => {
  const of = (status: object, own: object = {}) =>
    drainProgress({
      ...{ scheduling: 'draining', drainBegunAt: '2026-02-01T00:00:00Z' },
      status: { ...UNSEEN_NODE, nodeId: 'a', connection: 'connected', ...status },
      ...own,
    } as ShownNode)
  const shards = [{ state: 'master' }, { state: 'backup' }]
  expect(of({}, { scheduling: 'enabled' })).toBeNull()
  expect(of({ shards, announced: 3 }, { drainBegunAt: null })).toBe('waits for another node')
  expect(of({ shards, announced: 3 })).toBe('1 shard left')
  expect(of({ announced: 3 })).toBe('3 addresses left')
  expect(of({ departure: { since: '', busyProxies: 2 } })).toBe('2 proxies have clients')
  expect(of({ departure: { since: '', busyProxies: 0 } })).toBe('drained')
  expect(of({ connection: 'disconnected' })).toBe('it does not report')
})
