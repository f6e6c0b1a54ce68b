import {
  type BgpAdvertisementIntent,
  type Certificate,
  type HealthMonitor,
  type Listener,
  type LoadBalancer,
  type Network,
  type Node,
  type NodeGroup,
  nodeGroup as nodeGroupSchema,
  type Pool,
  type SecurityGroup,
} from '@spout/model'
import { listenerOf, loadBalancerOf, memberOf, metaOf, poolOf } from '@spout/testkit/model'

/** A UUID that shows what it stands for: `uuid('node', 3)`. */
export const uuid = (
  kind: 'project' | 'network' | 'subnet' | 'group' | 'node' | 'lb' | 'pool' | 'member' | 'listener' | 'other',
  number: number,
): string => {
  const kinds = ['project', 'network', 'subnet', 'group', 'node', 'lb', 'pool', 'member', 'listener', 'other']
  return `${String(kinds.indexOf(kind)).padStart(8, '0')}-0000-4000-8000-${String(number).padStart(12, '0')}`
}

export const nodeGroup = (number: number, name = 'default', changes: Partial<NodeGroup> = {}): NodeGroup => ({
  ...nodeGroupSchema.parse({ ...metaOf(uuid('group', number), name), announcer: 'l2' }),
  ...changes,
})

/** A group with two VRRP shards. */
export const vrrpGroup = (number: number, shards = 2, changes: Partial<NodeGroup> = {}): NodeGroup =>
  nodeGroup(number, 'default', {
    announcer: 'vrrp',
    vrrp: {
      profile: 'default',
      shards,
      routerIds: Array.from({ length: shards }, (_, index) => 10 * number + index + 1),
      excludedRouterIds: [],
    },
    ...changes,
  })

/** @param version distinguishes contents of the certificate */
export const certificate = (number: number, version: number): Certificate => ({
  ...metaOf(uuid('other', 200 + number), `certificate${number}`),
  projectId: uuid('project', 1),
  tags: [],
  chain: '',
  sealedKey: '',
  contentId: String(version).padStart(32, '0'),
  names: [],
  subject: '',
  issuer: '',
  notBefore: '2026-01-01T00:00:00.000Z',
  notAfter: '2027-01-01T00:00:00.000Z',
  keyType: 'ecdsa-p256',
  fingerprint: '0'.repeat(64),
})

/** @param sources the prefixes that it admits */
export const securityGroup = (number: number, sources: readonly string[]): SecurityGroup => ({
  ...metaOf(uuid('other', 300 + number), `security-group${number}`),
  projectId: uuid('project', 1),
  tags: [],
  rules: sources.map((cidr, index) => ({
    ...{ id: uuid('other', 310 + 10 * number + index), description: '', createdAt: '2026-01-01T00:00:00.000Z' },
    ...{ ipVersion: cidr.includes(':') ? 6 : 4, transport: null, ports: null, cidr },
  })),
})

export const advertisement = (
  number: number,
  changes: Partial<BgpAdvertisementIntent> = {},
): BgpAdvertisementIntent => ({
  ...metaOf(uuid('other', 100 + number), `advertisement${number}`),
  number,
  addressPoolIds: null,
  communities: [],
  localPreference: null,
  med: null,
  aggregateLength4: null,
  aggregateLength6: null,
  peerIds: null,
  ...changes,
})

export const node = (number: number, changes: Partial<Node> = {}): Node => ({
  ...metaOf(uuid('node', number), `n${number}`),
  nodeGroupId: uuid('group', 1),
  certificateSha256: 'a'.repeat(64),
  scheduling: 'enabled',
  schedulingSince: null,
  drainedSince: null,
  fabricAddress: null,
  seenFabricAddress: `192.0.2.${number}`,
  ...changes,
})

export const network = (number: number, changes: Partial<Network> = {}): Network => ({
  ...metaOf(uuid('network', number), `net${number}`),
  projectId: uuid('project', number),
  number,
  subnets: [{ ...metaOf(uuid('subnet', number), ''), cidr: '10.0.0.0/24', gatewayIp: '10.0.0.1', nodeRange: null }],
  returnPath: 'snat',
  routes: [],
  segment: { physicalNetwork: 'physnet1', vlan: null },
  ...changes,
})

/** A protocol of pools that such a listener may use. */
export const poolProtocolFor = (protocol: Listener['protocol']): Pool['protocol'] => {
  if (protocol === 'https' || protocol === 'metrics') return 'http'
  return protocol === 'tls' || protocol === 'tls-passthrough' ? 'tcp-proxy' : protocol
}

export const pool = (number: number, members: readonly string[]): Pool =>
  poolOf(
    uuid('pool', number),
    members.map((address, index) => memberOf(uuid('member', number * 1000 + index), address, 8080)),
  )

export const MONITOR: HealthMonitor = {
  id: uuid('other', 77),
  name: '',
  description: '',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: null,
  tags: [],
  enabled: true,
  type: 'tcp',
  intervalMs: 1000,
  timeoutMs: 500,
  rise: 2,
  fall: 2,
  http: null,
}

/** A load balancer of project and network `network` with one TCP listener and one pool of two members. */
export const loadBalancer = (
  number: number,
  changes: Partial<LoadBalancer> & { readonly network?: number } = {},
): LoadBalancer => {
  const { network: networkNumber = 1, ...rest } = changes
  return loadBalancerOf(uuid('lb', number), {
    name: `lb${number}`,
    projectId: uuid('project', networkNumber),
    networkId: uuid('network', networkNumber),
    vips: [
      {
        addressId: uuid('other', number),
        address: `198.18.${Math.floor(number / 250)}.${(number % 250) + 1}`,
        scope: 'fabric',
        poolId: uuid('other', 0),
        networkId: null,
        subnetId: null,
      },
    ],
    listeners: [listenerOf(uuid('listener', number), 80, { defaultPoolId: uuid('pool', number) })],
    pools: [pool(number, ['10.0.0.11', '10.0.0.12'])],
    ...rest,
  })
}
