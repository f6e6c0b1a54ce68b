import {
  type GroupEntry,
  LOCAL_DOMAIN,
  LOCAL_SEGMENT,
  LOCAL_SHARD,
  type LocalLoadBalancer,
  type Network,
  type NodeStateEntry,
  nodeGroup,
  type VrrpPeers,
  type VrrpProfile,
} from '@spout/model'
import { formatCidr, formatIp, hostCidr, parseCidr, parseIp } from '@spout/net'
import type { GroupNode } from '../announcers/group-node.ts'
import { planGroup } from '../group/plan-group.ts'
import { planDomains } from '../node-state/plan-domains.ts'
import { planLoadBalancer } from '../node-state/plan-load-balancer.ts'
import type { PlannedNode } from '../placement/place.ts'
import { idsOnNodes, localLoadBalancer } from './local-load-balancer.ts'

/** What the settings of some nodes say alike: what they balance, without a control plane. */
export interface LocalSettings {
  /** Fabric addresses of the nodes, of one family. The first is the first owner of the addresses. */
  readonly nodes: readonly string[]
  /** The VRID (RFC 5798 section 5.2.3). */
  readonly routerId: number
  readonly profile: VrrpProfile
  /** The subnet of the virtual cable between the domain and its node, which nothing else uses. */
  readonly links: readonly string[]
  readonly loadBalancers: readonly LocalLoadBalancer[]
}

/** The entries of one node. `group` is its part in VRRP, with the one shard `LOCAL_SHARD`. */
export interface LocalPlan {
  readonly entries: readonly NodeStateEntry[]
  readonly group: GroupEntry
}

const GROUP_ID = '00000000-0000-4000-8000-000000000001'
const NONE = { name: 'local', description: '', createdAt: '1970-01-01T00:00:00.000Z', updatedAt: null }

/**
 * Plans what nodes balance by their own settings, by fabric address: the entries that a control plane would send for a
 * network whose segment is the node itself, in a group with one shard. Pure.
 */
export function planLocal(settings: LocalSettings): ReadonlyMap<string, LocalPlan> {
  const network = localNetwork(settings)
  const ids = settings.nodes.map((address) => ({ id: address, name: address, scheduling: 'enabled' as const }))
  const ends = new Map(network.subnets.map(({ id, cidr }) => [id, hostOf(cidr, 2n)]))
  const use = { groupIds: [GROUP_ID], holder: null, hasInnerProxy: false, untracked: false }
  const nodes = ids.map(({ id }) => ({ id, nodeGroupId: GROUP_ID, addresses: ends }))
  const domains = planDomains(network, use, nodes, new Map())
  const balancers = planAll(settings, network, ids)
  const groups = planGroup({
    group: nodeGroup.parse({
      ...{ ...NONE, id: GROUP_ID, announcer: 'vrrp' },
      vrrp: { profile: settings.profile, shards: 1, routerIds: [settings.routerId] },
    }),
    nodes: ids.map((node): GroupNode => {
      const always = { schedulingSince: null, drainedSince: null, connection: 'connected' as const }
      return { ...node, ...always, fabricAddress: node.id }
    }),
    ...{ peers: [], advertisements: [], nowMs: 0 },
  })
  return new Map(
    settings.nodes.flatMap((address) => {
      const [domain, group] = [domains.get(address), groups.entries.get(address)]
      const own = balancers.flatMap((entries) => entries.get(address) ?? [])
      return domain === undefined || group === undefined
        ? []
        : [[address, { entries: [domain, ...own], group: withLocalShard(group) }] as const]
    }),
  )
}

function planAll(
  { loadBalancers }: LocalSettings,
  network: Network,
  nodes: readonly Pick<PlannedNode, 'id' | 'name' | 'scheduling'>[],
) {
  let last = 0
  return loadBalancers.map((given) => {
    const planned = planLoadBalancer({
      loadBalancer: localLoadBalancer(given, {
        ...{ projectId: network.projectId, networkId: network.id, nodeGroupId: null },
        ...{ createdAt: NONE.createdAt, ids: idsOnNodes(given.name) },
      }),
      network,
      group: {
        name: NONE.name,
        nodes: nodes.map((node) => ({ ...node, connection: 'connected', features: [], loadBalancers: 0 })),
      },
      announcing: {
        via: 'vrrp',
        ...{ shards: LOCAL_SHARD, groupId: GROUP_ID },
        ...{ networkShard: LOCAL_SHARD, networkSince: null, freestShard: LOCAL_SHARD },
      },
      previous: null,
      gatewayOwnerIds: [],
      freePoolNumber: () => ++last,
      connectionLimit: null,
      certificateOf: () => null,
      now: NONE.createdAt,
    })
    return planned.entries
  })
}

/** Each member is behind the node, which routes for it. A member on the node itself is reached in the same way. */
function localNetwork({ links, loadBalancers }: LocalSettings): Network {
  const via = new Map(links.map((cidr) => [parseCidr(cidr).version, hostOf(cidr, 1n)]))
  const members = new Set(loadBalancers.flatMap(({ members: all }) => all.map(({ address }) => address)))
  return {
    ...{ ...NONE, id: GROUP_ID, projectId: GROUP_ID, number: LOCAL_DOMAIN },
    returnPath: 'snat',
    subnets: links.map((cidr) => ({ ...NONE, id: cidr, cidr, gatewayIp: hostOf(cidr, 1n), nodeRange: null })),
    routes: [...members].flatMap((address) => {
      const router = via.get(parseIp(address).version)
      return router === undefined ? [] : [{ to: formatCidr(hostCidr(parseIp(address))), via: router }]
    }),
    segment: { physicalNetwork: LOCAL_SEGMENT, vlan: null },
  }
}

/** The group's one shard, with everything that it needs beside the shards of another group. */
function withLocalShard(group: GroupEntry): GroupEntry {
  if (group.vrrp === null) return group
  const { source, peers, advertMs, missedAdverts, shards } = group.vrrp
  const apart: VrrpPeers = { source, peers, advertMs, missedAdverts }
  return {
    ...group,
    vrrp: { ...group.vrrp, shards: shards.map((shard) => ({ ...shard, number: LOCAL_SHARD, apart })) },
  }
}

function hostOf(cidr: string, at: bigint): string {
  const { version, base } = parseCidr(cidr)
  return formatIp({ version, value: base + at })
}
