import type {
  AddressPool,
  Listener,
  LoadBalancer,
  LoadBalancerStatus,
  Member,
  MemberHealth,
  Network,
  Node,
  Pool,
  ServiceStats,
} from '@spout/model'
import * as documents from '@spout/testkit/model'
import { DEFAULT_TIMEOUTS } from '../conversion/convert-listener.ts'
import type { NetworkDirectory } from '../to-model/vip-request.ts'
import type { Stamp } from '../wire/wire-type.ts'

/** Plain objects for tests. Their ids name their kind and number. */
export const id = (kind: string, number = 1): string =>
  `${Buffer.from(kind.padEnd(4, '-')).toString('hex').slice(0, 8)}-0000-4000-8000-${String(number).padStart(12, '0')}`

export const NOW = '2026-03-01T12:00:00.000Z'
export const PROJECT = id('proj')

export function countingStamp(): Stamp {
  let drawn = 0
  return {
    newId: () => {
      drawn += 1
      return id('new', drawn)
    },
    now: NOW,
    byAdministrator: false,
  }
}

const meta = (kind: string, number: number, name = '') => ({
  ...documents.metaOf(id(kind, number), name),
  createdAt: NOW,
})

export const listenerOf = (number: number, fields: Partial<Listener> = {}): Listener =>
  documents.listenerOf(id('list', number), 8000 + number, {
    ...meta('list', number, `listener-${number}`),
    timeouts: DEFAULT_TIMEOUTS,
    ...fields,
  })

export const memberOf = (number: number, fields: Partial<Member> = {}): Member =>
  documents.memberOf(id('memb', number), `10.0.0.${number}`, 80, { createdAt: NOW, ...fields })

export const poolOf = (number: number, { members = [], ...fields }: Partial<Pool> = {}): Pool =>
  documents.poolOf(id('pool', number), members, { ...meta('pool', number, `pool-${number}`), ...fields })

export const tcpMonitorOf = (number: number): NonNullable<Pool['monitor']> => ({
  ...meta('hmon', number),
  tags: [],
  enabled: true,
  type: 'tcp',
  intervalMs: 5000,
  timeoutMs: 3000,
  rise: 2,
  fall: 3,
  http: null,
})

export const loadBalancerOf = (fields: Partial<LoadBalancer> = {}): LoadBalancer =>
  documents.loadBalancerOf(id('lb'), {
    ...meta('lb', 1, 'web'),
    projectId: PROJECT,
    networkId: null,
    vips: [
      {
        addressId: id('port'),
        address: '192.0.2.10',
        scope: 'fabric',
        poolId: id('publ'),
        networkId: null,
        subnetId: null,
      },
    ],
    ...fields,
  })

type StatusFields = Partial<Omit<LoadBalancerStatus, 'members' | 'stats'>> & {
  /** Health by member id. */
  readonly health?: Readonly<Record<string, MemberHealth['health']>>
  readonly stats?: readonly Partial<ServiceStats>[]
}

/** A status, confirmed at generation 1 unless a field says otherwise. */
export function statusOf({ health = {}, stats = [], ...fields }: StatusFields = {}): LoadBalancerStatus {
  return {
    provisioning: 'active',
    reason: 'Programmed',
    message: 'Programmed on node-1.',
    serving: { state: 'yes', reason: 'Serving', message: '0 of 0 members answer.', membersUp: 0, members: 0 },
    confirmedGeneration: 1,
    confirmedAt: '2026-03-01T12:00:01.000Z',
    ownerNodeId: id('node'),
    nodes: [],
    members: new Map(
      Object.entries(health).map(([memberId, word]) => [
        memberId,
        { loadBalancerId: id('lb'), poolId: id('pool'), memberId, health: word, reason: null, since: NOW },
      ]),
    ),
    stats: new Map(
      stats.map((one) => {
        const counters = {
          loadBalancerId: id('lb'),
          listenerId: id('list'),
          bytesIn: 0,
          bytesOut: 0,
          activeConnections: 0,
          totalConnections: 0,
          requestErrors: 0,
          ...one,
        }
        return [counters.listenerId, counters]
      }),
    ),
    ...fields,
  }
}

export const PENDING: StatusFields = {
  provisioning: 'pending',
  reason: 'WaitingForNode',
  confirmedGeneration: 0,
  confirmedAt: null,
  ownerNodeId: null,
}

export const publicPool: AddressPool = {
  ...meta('publ', 1, 'public'),
  ranges: [{ first: '192.0.2.10', last: '192.0.2.250' }],
  cidr: '192.0.2.0/24',
  gatewayIp: '192.0.2.1',
  projectIds: null,
  quarantineSeconds: 0,
  draining: false,
}

/** An enabled node, with an address on the fabric that ends as its id does. */
export const nodeOf = (nodeId: string, name: string, nodeGroupId: string): Node => ({
  ...{ id: nodeId, name, description: '', createdAt: '2026-03-01T11:00:00.000Z', updatedAt: null },
  ...{ nodeGroupId, certificateSha256: null, schedulingSince: null, drainedSince: null },
  ...{ scheduling: 'enabled', fabricAddress: null, seenFabricAddress: `192.0.2.${nodeId.at(-1)}` },
})

export const tenantNetwork: Network = {
  ...meta('netw', 1, 'private'),
  projectId: PROJECT,
  number: 1,
  returnPath: 'gateway',
  routes: [],
  segment: { physicalNetwork: 'physnet1', vlan: 101 },
  subnets: [
    { ...meta('subn', 1, 'v6'), cidr: 'fd00::/64', gatewayIp: null, nodeRange: null },
    { ...meta('subn', 2, 'v4'), cidr: '10.0.0.0/24', gatewayIp: '10.0.0.254', nodeRange: null },
  ],
}

/** The public pool, the tenant's network and one free port of it. */
export const directory: NetworkDirectory = {
  pool: (wanted) => (wanted === publicPool.id ? publicPool : null),
  network: (wanted) => (wanted === tenantNetwork.id ? tenantNetwork : null),
  subnet: (wanted) => {
    const subnet = tenantNetwork.subnets.find((one) => one.id === wanted)
    return subnet === undefined ? null : { network: tenantNetwork, subnet }
  },
  port: (wanted) =>
    [id('port', 7), id('port', 8)].includes(wanted)
      ? {
          ...meta('addr', 7),
          id: `${tenantNetwork.id}/10.0.0.70`,
          portId: wanted,
          address: '10.0.0.70',
          scope: 'tenant',
          holderId: tenantNetwork.id,
          subnetId: id('subn', 2),
          projectId: PROJECT,
          use: 'port',
          ownerId: wanted === id('port', 8) ? id('lb', 9) : null,
          tags: [],
          quarantineUntil: null,
        }
      : null,
}
