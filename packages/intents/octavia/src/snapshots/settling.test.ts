import type { LoadBalancer, LoadBalancerStatus, StatusReader } from '@spout/model'
import { expect, it } from 'vitest'
import { type OctaviaAdmission, settleWithin, settlingAdmission } from './settling.ts'

const lb = { id: 'lb', generation: 2 } as LoadBalancer

/** A status that tests change step by step. */
function board() {
  const listeners = new Set<(kind: 'loadBalancer' | 'node', id: string) => void>()
  let status = { provisioning: 'pending', confirmedGeneration: 1, reason: 'WaitingForNode' } as LoadBalancerStatus
  const reader = {
    loadBalancer: () => status,
    onChange: (listener: (kind: 'loadBalancer' | 'node', id: string) => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  } as unknown as StatusReader
  const become = (change: Partial<LoadBalancerStatus>) => {
    status = { ...status, ...change }
    for (const listener of listeners) listener('loadBalancer', 'lb')
  }
  return { reader, become, listeners }
}

const admission = { changeLoadBalancer: async () => lb } as unknown as OctaviaAdmission

it('resolves when the node confirms this very generation, and stops listening', async () => {
  const { reader, become, listeners } = board()
  let done = false
  const change = settlingAdmission(admission, settleWithin(reader, 60_000))
    .changeLoadBalancer('lb', () => ({}))
    .then(() => {
      done = true
    })
  await expect.poll(() => listeners.size).toBe(1)
  become({ provisioning: 'active', confirmedGeneration: 1 })
  await Promise.resolve()
  expect(done).toBe(false)
  become({ confirmedGeneration: 2 })
  await change
  expect(listeners.size).toBe(0)
})

it('resolves when the node refuses it', async () => {
  const { reader, become, listeners } = board()
  const change = settlingAdmission(admission, settleWithin(reader, 60_000)).changeLoadBalancer('lb', () => ({}))
  await expect.poll(() => listeners.size).toBe(1)
  become({ provisioning: 'error' })
  await change
})

it('resolves without a node after the longest wait', async () => {
  const { reader, listeners } = board()
  await settlingAdmission(admission, settleWithin(reader, 1)).changeLoadBalancer('lb', () => ({}))
  expect(listeners.size).toBe(0)
})

it('passes other calls on, whatever kind of object admission is', async () => {
  const { reader } = board()
  const calls: unknown[] = []
  class Recorded {
    deleteLoadBalancer(...given: unknown[]) {
      calls.push(given)
    }
    quotaOf(projectId: string) {
      return { limits: projectId }
    }
    setQuota(...given: unknown[]) {
      calls.push(given)
    }
  }
  const settling = settlingAdmission(new Recorded() as unknown as OctaviaAdmission, settleWithin(reader, 0))
  await settling.deleteLoadBalancer('lb', { cascade: true })
  await settling.setQuota('project', { pools: 3 })
  expect(calls).toEqual([
    ['lb', { cascade: true }],
    ['project', { pools: 3 }],
  ])
  expect(settling.quotaOf('project')).toEqual({ limits: 'project' })
})
