import { expect, it } from 'vitest'
import { moveText, type Step, stoppedBy } from './rebalance.ts'

const step = (shard: number, state: Step['state'], message: string | null = null): Step => ({
  ...{ shard, fromNodeId: 'a', toNodeId: 'b', state, message },
})

it('names the nodes of a move', () => {
  expect(moveText(step(3, 'waiting'), new Map([['a', 'node1']]))).toBe('shard 3: node1 -> b')
})

it('says why the moves stopped, and how many were not begun', () => {
  expect(stoppedBy([step(1, 'done'), step(2, 'moving'), step(3, 'waiting')])).toBe(null)
  expect(stoppedBy([step(1, 'done'), step(2, 'failed', 'node b is lost'), step(3, 'waiting')])).toBe(
    'shard 2 was not moved: node b is lost; 1 more not begun',
  )
  expect(stoppedBy([step(2, 'failed', 'it was not taken over in time')])).toBe(
    'shard 2 was not moved: it was not taken over in time',
  )
})
