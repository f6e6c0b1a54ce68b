import {
  type Listener,
  type LoadBalancer,
  type Member,
  type Network,
  POOL_FAILURE_DEFAULTS,
  type Pool,
} from '@spout/model'

/** A UUID with this number in it. */
export const id = (number: number): string => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`

const meta = (number: number) => ({
  id: id(number),
  name: '',
  description: '',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: null,
})

export const network = (number: number, fields: Partial<Network> = {}): Network => ({
  ...meta(number),
  projectId: id(1),
  number,
  subnets: [{ ...meta(number + 1000), cidr: '10.0.0.0/24', gatewayIp: '10.0.0.1', nodeRange: null }],
  returnPath: 'snat',
  routes: [],
  segment: { physicalNetwork: 'physnet1', vlan: null },
  ...fields,
})

export const member = (number: number, fields: Partial<Member> = {}): Member => ({
  ...meta(number),
  tags: [],
  enabled: true,
  address: `10.0.0.${(number % 200) + 10}`,
  port: 80,
  subnetId: null,
  weight: 1,
  backup: false,
  monitorAddress: null,
  monitorPort: null,
  ...fields,
})

export const pool = (number: number, members: Member[], fields: Partial<Pool> = {}): Pool => ({
  ...meta(number),
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

export const listener = (number: number, port: number, fields: Partial<Listener> = {}): Listener => ({
  ...meta(number),
  tags: [],
  enabled: true,
  protocol: 'tcp',
  port,
  connectionLimit: null,
  defaultPoolId: null,
  timeouts: { clientMs: 50_000, connectMs: 5000, memberMs: 50_000, inspectMs: 0 },
  insertHeaders: [],
  allowedCidrs: null,
  ...fields,
})

export const loadBalancer = (number: number, fields: Partial<LoadBalancer> = {}): LoadBalancer => ({
  ...meta(number),
  projectId: id(1),
  tags: [],
  enabled: true,
  generation: 1,
  networkId: id(2),
  vips: [
    {
      addressId: id(number + 0x100000),
      address: `192.0.2.${(number % 200) + 10}`,
      scope: 'fabric',
      poolId: id(3),
      networkId: null,
      subnetId: null,
    },
  ],
  listeners: [],
  pools: [],
  nodeGroupId: null,
  annotations: {},
  ...fields,
})
