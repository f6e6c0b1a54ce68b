import { EXCLUDE_NODE_LABEL, type Node, type NodeCondition } from '@spout/kube'
import type { ClusterWish } from '@spout/model'
import { describe, expect, it } from 'vitest'
import { type Around, type NodePolicy, wishOf } from './node-wish.ts'

const NOW = Date.parse('2026-01-01T12:00:00Z')
const POLICY: NodePolicy = {
  ...{ cordon: 'cordon', conditions: ['Ready', 'KernelDeadlock'], taints: ['example.org/repair'], returnSeconds: 30 },
}
const DRAINED = { scheduling: 'draining', reason: 'condition Ready is False' } as const

const condition = (type: string, status: NodeCondition['status'], secondsAgo = 3600): NodeCondition => ({
  ...{ type, status, lastTransitionTime: new Date(NOW - 1000 * secondsAgo).toISOString() },
})
const node = (spec: Node['spec'] = {}, conditions = [condition('Ready', 'True')], more: object = {}): Node => ({
  ...{ metadata: { name: 'worker1', ...more }, spec, status: { conditions } },
})
const ill = (...conditions: readonly NodeCondition[]) => node({}, [...conditions])
const decided = (of: Node, present: ClusterWish | null = null, policy = POLICY, around: Partial<Around> = {}) =>
  wishOf(of, present, policy, { areMostUnwell: false, areAllExcluded: false, nowMs: NOW, ...around })

describe('a node is drained', () => {
  const since = '2026-01-01T11:00:00Z'
  it.each([
    ['while it is not ready', ill(condition('Ready', 'False')), 'condition Ready is False'],
    ['while its kubelet is silent', ill(condition('Ready', 'Unknown')), 'condition Ready is Unknown'],
    [
      'by a condition of the list',
      ill(condition('Ready', 'True'), condition('KernelDeadlock', 'True')),
      'condition KernelDeadlock is True',
    ],
    [
      'by the exclusion label, whatever its value',
      node({}, [], { labels: { [EXCLUDE_NODE_LABEL]: 'false' } }),
      `label ${EXCLUDE_NODE_LABEL}`,
    ],
    [
      'by a taint of the list, whatever its effect',
      node({ taints: [{ key: 'example.org/repair', effect: 'PreferNoSchedule' }] }),
      'taint example.org/repair',
    ],
    ['while it is deleted', node({}, [], { deletionTimestamp: since }), 'it is being deleted'],
  ])('%s', (_, of, reason) => {
    expect(decided(of)).toEqual({ wish: { scheduling: 'draining', reason }, againAtMs: null })
  })

  it.each([
    ['other conditions', ill(condition('Ready', 'True'), condition('MemoryPressure', 'True'))],
    ['no conditions at all, as before its kubelet first reports', ill()],
    ['other taints', node({ taints: [{ key: 'dedicated', value: 'edge', effect: 'NoExecute' }] })],
  ])('not by %s', (_, of) => {
    expect(decided(of)).toEqual({ wish: null, againAtMs: null })
  })
})

it('a label that all nodes have excludes none', () => {
  const labelled = node({}, [], { labels: { [EXCLUDE_NODE_LABEL]: '' } })
  expect(decided(labelled, null, POLICY, { areAllExcluded: true }).wish).toBeNull()
})

it('a cordon does what the policy says', () => {
  const cordoned = node({ unschedulable: true })
  const under = (cordon: NodePolicy['cordon']) => decided(cordoned, null, { ...POLICY, cordon }).wish?.scheduling
  expect([under('ignore'), under('cordon'), under('drain')]).toEqual([undefined, 'cordoned', 'draining'])
})

describe('when most nodes are unwell together', () => {
  it('no further one is drained by conditions, and the drained ones stay so', () => {
    const sick = ill(condition('Ready', 'Unknown'))
    expect(decided(sick, null, POLICY, { areMostUnwell: true }).wish).toBeNull()
    expect(decided(sick, DRAINED, POLICY, { areMostUnwell: true }).wish?.scheduling).toBe('draining')
  })

  it('what somebody says still counts', () => {
    const labelled = node({}, [], { labels: { [EXCLUDE_NODE_LABEL]: '' } })
    expect(decided(labelled, null, POLICY, { areMostUnwell: true }).wish?.scheduling).toBe('draining')
  })
})

describe('a node whose conditions have ended', () => {
  it('waits, and then takes part again', () => {
    const back = (secondsAgo: number) => decided(ill(condition('Ready', 'True', secondsAgo)), DRAINED)
    expect(back(29)).toEqual({ wish: DRAINED, againAtMs: NOW + 1000 })
    expect(back(30)).toEqual({ wish: null, againAtMs: null })
  })

  it('waits for the last of them', () => {
    const of = ill(condition('Ready', 'True', 100), condition('KernelDeadlock', 'False', 10))
    expect(decided(of, DRAINED).againAtMs).toBe(NOW + 20_000)
  })

  it('does not wait if it was not drained, nor for a clock that is far ahead', () => {
    expect(decided(ill(condition('Ready', 'True', 1))).wish).toBeNull()
    expect(decided(ill(condition('Ready', 'True', -3600)), DRAINED).wish).toBeNull()
  })
})
