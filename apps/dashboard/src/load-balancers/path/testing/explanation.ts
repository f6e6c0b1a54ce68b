import type {
  ExplainedListener,
  ExplainedMember,
  ExplainedPool,
  LoadBalancerExplanation,
} from '../../../api/explanation.ts'

export const member = (id: string, more: Partial<ExplainedMember> = {}): ExplainedMember => ({
  ...{ id, name: id, address: '10.0.0.11', port: 8080, weight: 1, health: 'up', reason: null, since: null },
  takesTraffic: true,
  why: null,
  ...more,
})

export const pool = (
  id: string,
  members: readonly ExplainedMember[],
  more: Partial<ExplainedPool> = {},
): ExplainedPool => ({
  ...{ id, name: id, protocol: 'http', algorithm: 'round-robin', enabled: true, monitored: true, panic: false },
  refusedPercent: 0,
  members,
  ...more,
})

export const listener = (id: string, more: Partial<ExplainedListener> = {}): ExplainedListener => ({
  ...{ id, name: id, protocol: 'http', port: 80, poolId: null, allowedCidrs: null, answers: true, why: null },
  stats: null,
  routes: [],
  ...more,
})

/** Two nodes, the first of which announces one address. */
export const explanation = (more: Partial<LoadBalancerExplanation> = {}): LoadBalancerExplanation => ({
  loadBalancer: { id: 'lb', name: 'shop', projectId: 'p', enabled: true },
  madeFor: [],
  state: { provisioning: 'active', reason: 'Programmed', message: 'Programmed.' },
  serving: { state: 'yes', reason: 'Serving', message: '2 of 2 members answer.', membersUp: 2, members: 2 },
  owner: { id: 'n1', name: 'node1', connection: 'connected' },
  ownerReason: { code: 'Planned', message: 'It was planned there.' },
  vips: [{ address: '198.51.100.17', scope: 'fabric', announcedBy: ['node1'], pool: null }],
  dns: [],
  returnPath: 'gateway',
  connections: null,
  listeners: [],
  pools: [],
  nodes: (['n1', 'n2'] as const).map((nodeId, at) => ({
    ...{ nodeId, nodeName: `node${at + 1}`, connection: 'connected', state: 'programmed', message: null },
    announced: ['198.51.100.17'],
  })),
  lastChange: { generation: 1, at: '2026-11-29T12:00:00.000Z', confirmedGeneration: 1, confirmedAt: null },
  ...more,
})
