import type { LoadBalancerRow } from '@spout/model'

/** A load balancer that is well. */
export const row = (id: string, more: Partial<LoadBalancerRow> = {}): LoadBalancerRow => ({
  id,
  projectId: 'p1',
  projectName: 'acme',
  name: id,
  health: 'ok',
  reason: null,
  vips: ['198.51.100.1'],
  listeners: 1,
  routes: 0,
  members: { total: 2, serving: 2 },
  owner: null,
  createdAt: '2026-11-29T12:00:00.000Z',
  updatedAt: null,
  connectionsPerSecond: null,
  bytesPerSecond: null,
  ...more,
})
