import type { Node } from '@spout/model'
import { describe, expect, it } from 'vitest'
import { changedNode } from './changed-node.ts'

const NODE: Node = {
  ...{ id: '00000000-0000-4000-8000-000000000001', name: 'worker1', description: '' },
  ...{ createdAt: '2026-01-01T00:00:00.000Z', updatedAt: null },
  nodeGroupId: '00000000-0000-4000-8000-000000000002',
  ...{ certificateSha256: null, scheduling: 'enabled', schedulingSince: null, drainedSince: null },
  ...{ fabricAddress: null, seenFabricAddress: null },
}
const DRAINED = { clusterScheduling: { scheduling: 'draining', reason: 'condition KernelDeadlock is True' } } as const
const CORDONED = { clusterScheduling: { scheduling: 'cordoned', reason: 'it is cordoned' } } as const
const OVER = { clusterScheduling: null }

type Change = Parameters<typeof changedNode>[1]
const after = (...changes: readonly Change[]) => changes.reduce(changedNode, NODE)

describe('what a cluster asks for', () => {
  it('drains a node, and ends without a trace', () => {
    expect(after(DRAINED)).toMatchObject({ scheduling: 'draining', clusterScheduling: { own: 'enabled' } })
    expect(after(DRAINED, OVER)).toEqual(NODE)
  })

  it('does not end the drain of an administrator, whichever came first', () => {
    for (const changes of [
      [{ scheduling: 'draining' }, DRAINED],
      [DRAINED, { scheduling: 'draining' }],
    ] as const) {
      expect(after(...changes).scheduling).toBe('draining')
      expect(after(...changes, OVER)).toEqual({ ...NODE, scheduling: 'draining' })
    }
  })

  it('outlasts an administrator who enables the node, whose wish counts afterwards', () => {
    const drained = [{ scheduling: 'draining' }, DRAINED, { scheduling: 'enabled' }] as const
    expect(after(...drained).scheduling).toBe('draining')
    expect(after(...drained, OVER)).toEqual(NODE)
  })

  it('gives way to a stronger wish of the administrator, and may grow stronger itself', () => {
    expect(after({ scheduling: 'draining' }, CORDONED).scheduling).toBe('draining')
    expect(after(CORDONED).scheduling).toBe('cordoned')
    expect(after(CORDONED, DRAINED)).toMatchObject({ scheduling: 'draining', clusterScheduling: { own: 'enabled' } })
    expect(after(CORDONED, DRAINED, CORDONED).scheduling).toBe('cordoned')
  })

  it('is not touched by changes of other fields', () => {
    expect(after(DRAINED, { description: 'rack 7' })).toEqual({ ...after(DRAINED), description: 'rack 7' })
  })
})
