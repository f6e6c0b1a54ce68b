import type { EndpointSlice } from '@spout/kube'
import { expect, test } from 'vitest'
import { leftOutSlice, ofManagers } from './slice-managers.ts'

const KUBERNETES = 'endpointslice-controller.k8s.io'
const slice = (manager?: string): EndpointSlice => ({
  metadata: {
    name: 'web-1',
    namespace: 'default',
    labels: manager === undefined ? {} : { 'endpointslice.kubernetes.io/managed-by': manager },
  },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.244.7.7'] }],
})
const kept = (manager: string | undefined, managers: readonly string[]) =>
  ofManagers(slice(manager), managers).endpoints?.length

test('every slice counts when no manager is named', () => {
  for (const manager of [KUBERNETES, 'somebody', undefined]) expect(kept(manager, [])).toBe(1)
  expect(leftOutSlice([ofManagers(slice(), [])])).toBeNull()
})

test('when managers are named, other slices have no endpoints', () => {
  expect(kept(KUBERNETES, [KUBERNETES])).toBe(1)
  expect(kept('mesh', ['mesh', KUBERNETES])).toBe(1)
  for (const manager of ['somebody', '', undefined]) expect(kept(manager, [KUBERNETES])).toBe(0)
})

test('the user is told which slice does not count, and why', () => {
  const notice = (manager?: string) =>
    leftOutSlice([ofManagers(slice(KUBERNETES), [KUBERNETES]), ofManagers(slice(manager), [KUBERNETES])])
  expect(notice()).toEqual({
    reason: 'EndpointsNotTrusted',
    field: 'endpointSlice/web-1',
    message: 'EndpointSlice web-1 has no manager, whose endpoints do not count here (services.endpointSlicesBy).',
  })
  expect(notice('x\n\u0000y')?.message).toContain('is managed by x??y, whose')
})
