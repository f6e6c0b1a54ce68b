/** Documents of the model for tests, with nothing special about them: a test names what it is about. */
import {
  LISTENER_DEFAULTS,
  type Listener,
  type LoadBalancer,
  type Member,
  POOL_FAILURE_DEFAULTS,
  type Pool,
} from '@spout/model'

/** What every object has. */
export const metaOf = (id: string, name = '') => ({
  id,
  name,
  description: '',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: null,
})

export const memberOf = (id: string, address: string, port = 80, fields: Partial<Member> = {}): Member => ({
  ...metaOf(id),
  tags: [],
  enabled: true,
  address,
  port,
  subnetId: null,
  weight: 1,
  backup: false,
  monitorAddress: null,
  monitorPort: null,
  ...fields,
})

/** A TCP pool without a monitor. */
export const poolOf = (id: string, members: Member[], fields: Partial<Pool> = {}): Pool => ({
  ...metaOf(id),
  tags: [],
  enabled: true,
  protocol: 'tcp',
  algorithm: 'round-robin',
  persistence: null,
  members,
  monitor: null,
  panicThreshold: 0,
  ...POOL_FAILURE_DEFAULTS,
  ...fields,
})

/** A TCP listener without a pool. */
export const listenerOf = (id: string, port: number, fields: Partial<Listener> = {}): Listener => ({
  ...metaOf(id),
  tags: [],
  enabled: true,
  protocol: 'tcp',
  port,
  defaultPoolId: null,
  routes: [],
  tls: null,
  ...LISTENER_DEFAULTS,
  ...fields,
})

/** As admission stores it. */
export const loadBalancerOf = (
  id: string,
  fields: Partial<LoadBalancer> & Pick<LoadBalancer, 'projectId' | 'networkId' | 'vips'>,
): LoadBalancer => ({
  ...metaOf(id),
  tags: [],
  enabled: true,
  generation: 1,
  listeners: [],
  pools: [],
  nodeGroupId: null,
  annotations: {},
  ...fields,
})
