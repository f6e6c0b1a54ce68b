import {
  type Announce,
  accessLogFeature,
  type DedicatedProxy,
  featuresOfRoutes,
  isAnnouncedByEveryNode,
  isProxied,
  type LoadBalancer,
  type LoadBalancerEntry,
  loadBalancerKey,
  type Network,
  NODE_STATE_VERSION,
  type NodePool,
  type Placement,
  type RequestSizes,
  readsRequests,
  type SecurityRule,
  type Service,
  sameJson,
  usedPoolIds,
} from '@spout/model'
import type { AccessLog } from '@spout/model/access-log'
import { announceInside, announceVip } from '../announcers/registry.ts'
import type { CarryingGroup, GroupAnnouncing, Sharded } from '../group/carrying-group.ts'
import { type PlannedNode, placeOwner } from '../placement/place.ts'
import { placeShard } from '../placement/place-shard.ts'
import type { Reason } from '../reason.ts'
import { admittedSources } from './admitted-sources.ts'
import { planPool, proxyProtocolOf } from './node-pool.ts'
import { type KnownNodeRoutes, planRoutes } from './node-routes.ts'
import { type CertificateOf, planSyslog, planTls } from './node-tls.ts'
import type { PlacementIndex } from './placement-index.ts'
import { needsSymmetricPath } from './symmetric-path.ts'

export interface LoadBalancerPlanInput {
  readonly loadBalancer: LoadBalancer
  /** The network of `loadBalancer.networkId`; null if it is null or the network is gone. */
  readonly network: Network | null
  readonly group: { readonly name: string; readonly nodes: readonly PlannedNode[] }
  readonly announcing: Announcing
  readonly previous: Placement | null
  /**
   * The nodes' last entry. Its unchanged members and routes are reused as the same objects. Nothing else depends on it.
   */
  readonly entryBefore?: LoadBalancerEntry | null
  /** The routes that nodes got before; new ones are added. It only saves work. Default: none. */
  readonly nodeRoutes?: KnownNodeRoutes
  /**
   * `PlacementIndex.gatewayOwners(networkId)`. With return path `gateway` one node has the members' gateway address, so
   * all load balancers of the network that this node can carry are on it.
   */
  readonly gatewayOwnerIds: readonly string[]
  /** `PlacementIndex.freePoolNumber(networkId, after)`. */
  readonly freePoolNumber: (after: number) => number | null
  /** Connections at once of each listener at most, as its class says; null: as many as the listener says. */
  readonly connectionLimit: number | null
  /** The rules of the security groups that it names; null or absent: it names none. */
  readonly securityRules?: readonly SecurityRule[] | null
  /** Limits of the proxy of its own, as its class says. Absent: it shares one. */
  readonly dedicatedProxy?: DedicatedProxy | undefined
  /** Larger requests are refused, as its class says. Absent: as large as the proxy takes. */
  readonly requestSizes?: RequestSizes | undefined
  /** Certificates of the project. */
  readonly certificateOf: CertificateOf
  /** RFC 3339: the time of the placement, if it differs from the previous one. */
  readonly now: string
}

/** How the group makes addresses known and, where its nodes elect, by which shards. */
export type Announcing = GroupAnnouncing | (Sharded & Sharding)

export interface Sharding {
  readonly groupId: string
  /** `PlacementIndex.shardOf(networkId, groupId)`: a network's VIPs and gateways are all in one. */
  readonly networkShard: number | null
  /** `PlacementIndex.carriedSince(networkId, groupId)`. */
  readonly networkSince: string | null
  /** `PlacementIndex.freestShard(groupId, shards)`. */
  readonly freestShard: number
}

/** @param networkId the load balancer's; null when it has none yet */
export function announcingIn(
  { id, announcing }: CarryingGroup,
  index: Pick<PlacementIndex, 'shardOf' | 'carriedSince' | 'freestShard'>,
  networkId: string | null,
): Announcing {
  if (!('shards' in announcing)) return announcing
  return {
    ...announcing,
    groupId: id,
    networkShard: networkId === null ? null : index.shardOf(networkId, id),
    networkSince: networkId === null ? null : index.carriedSince(networkId, id),
    freestShard: index.freestShard(id, announcing.shards),
  }
}

export interface LoadBalancerPlan {
  /** `previous` itself when nothing changed, and nothing needs to be written. */
  readonly placement: Placement
  /** By node id. Nodes with equal entries share one object. Empty while no node can carry it. */
  readonly entries: ReadonlyMap<string, LoadBalancerEntry>
  readonly reason: Reason
}

/** Why a load balancer without a network is on no node. */
export const NO_NETWORK: Reason = {
  code: 'NoNetwork',
  message: 'No network is known yet for its members: it is carried once it has a member or a network.',
}

/** Why a load balancer has no placement. */
export const whyNotPlaced = ({ networkId }: Pick<LoadBalancer, 'networkId'>): Reason =>
  networkId === null ? NO_NETWORK : { code: 'NotPlannedYet', message: 'It is not planned yet.' }

/** Plans one load balancer. The result depends on the input alone: the same input gives the same bytes. */
export function planLoadBalancer(input: LoadBalancerPlanInput): LoadBalancerPlan {
  const { loadBalancer, network } = input
  if (network === null) return { ...remember(input, NOWHERE, NO_NETWORK, []), entries: new Map() }
  const pools = planPools(input)
  if (pools === null) {
    const message = `Network \`${network.name || network.id}\` has no pool number left.`
    return { ...remember(input, NOWHERE, { code: 'NoPoolNumber', message }, []), entries: new Map() }
  }
  const placed = pools.map((pool) => pool.placed)
  const entry = loadBalancerEntry(
    loadBalancer,
    network.number,
    pools.flatMap(({ node }) => node ?? []),
    input,
  )
  return 'groupId' in input.announcing
    ? byShard(input, input.announcing, network, placed, entry)
    : byOwner(input, network, placed, entry)
}

/** One node announces. The others have the same entry and do not announce. */
function byOwner(
  input: LoadBalancerPlanInput,
  network: Network,
  pools: Placement['pools'],
  entry: LoadBalancerEntry,
): LoadBalancerPlan {
  const { loadBalancer, group, previous } = input
  const shared = network.returnPath === 'gateway' ? input.gatewayOwnerIds : []
  const owner = placeOwner({
    groupName: group.name,
    nodes: group.nodes,
    previousOwnerIds: [...shared, ...(previous?.ownerNodeId ? [previous.ownerNodeId] : [])],
    needs: neededFeatures(loadBalancer, network.returnPath, input),
    leftNodeId: loadBalancer.leftNodeId,
    previous,
  })
  const reason = network.returnPath === 'gateway' ? explainGateway(owner.reason, network) : owner.reason
  const placed = remember(input, { ownerNodeId: owner.nodeId, shard: null }, reason, pools)
  if (owner.refused) return { ...placed, entries: new Map() }
  const announcing = announced(entry, loadBalancer.enabled ? (at) => announceAt(input, at, null) : null)
  return {
    ...placed,
    entries: new Map(group.nodes.map((node) => [node.id, node.id === owner.nodeId ? announcing : entry])),
  }
}

/** All nodes of the group have the same entry. The shard's master announces without being told. */
function byShard(
  input: LoadBalancerPlanInput,
  announcing: Sharded & Sharding,
  network: Network,
  pools: Placement['pools'],
  entry: LoadBalancerEntry,
): LoadBalancerPlan {
  const { loadBalancer, group, previous } = input
  const { groupId } = announcing
  const before = previous?.shard?.nodeGroupId === groupId && previous.networkId === network.id ? previous.shard : null
  const { number, reason, refused } = placeShard({
    ...announcing,
    groupName: group.name,
    nodes: group.nodes,
    previousShard: before?.number ?? null,
    needs: neededFeatures(loadBalancer, network.returnPath, input),
    previousRefusal: refusalOf(previous),
  })
  const routed =
    isAnnouncedByEveryNode({ announcer: announcing.via }) && loadBalancer.vips.some(({ scope }) => scope === 'fabric')
  const message = !routed
    ? reason.message
    : needsSymmetricPath(loadBalancer, network)
      ? `The master of shard ${number} of group \`${group.name}\` announces it to its routers: it holds ${network.returnPath === 'gateway' ? "the members' gateway" : 'the address that members see'}.`
      : `Every node of group \`${group.name}\` announces it to its routers.`
  const shown = reason.code === 'Placed' ? { ...reason, message } : reason
  const shard =
    before?.number === number ? before : { nodeGroupId: groupId, number, since: announcing.networkSince ?? input.now }
  const placed = remember(
    input,
    { ownerNodeId: null, shard },
    network.returnPath === 'gateway' && !routed ? explainGateway(shown, network) : shown,
    pools,
  )
  if (refused) return { ...placed, entries: new Map() }
  const fabricShard = routed && !needsSymmetricPath(loadBalancer, network) ? null : number
  const told = announced(entry, loadBalancer.enabled ? (at) => announceAt(input, at, number, fabricShard) : null)
  return { ...placed, entries: new Map(group.nodes.map((node) => [node.id, told])) }
}

const refusalOf = (previous: Placement | null): Reason | null =>
  previous?.reason.code === 'FeatureUnavailable' ? previous.reason : null

/** @param shard of the load balancer; null where it has none. @param fabricShard the same for addresses of the fabric */
function announceAt(
  { loadBalancer: { vips }, announcing }: LoadBalancerPlanInput,
  at: number,
  shard: number | null,
  fabricShard = shard,
): Announce {
  const { scope = 'tenant', poolId = null } = vips[at] ?? {}
  return scope === 'tenant'
    ? announceInside(announcing.via, shard)
    : announceVip(announcing, { scope, poolId }, fabricShard)
}

const explainGateway = (reason: Reason, network: Network): Reason =>
  reason.code === 'Placed'
    ? {
        ...reason,
        message: `${reason.message} It holds the members' gateway of network \`${network.name || network.id}\`, which all load balancers of the network share.`,
      }
    : reason

/**
 * Names of the features that drivers must offer for this load balancer with this return path, sorted.
 * @param ofClass what its class says
 */
export function neededFeatures(
  loadBalancer: Pick<LoadBalancer, 'listeners' | 'pools'>,
  returnPath: Network['returnPath'] | null,
  { dedicatedProxy, requestSizes }: Pick<LoadBalancerPlanInput, 'dedicatedProxy' | 'requestSizes'> = {},
): readonly string[] {
  const needs = new Set<string>()
  if (requestSizes !== undefined && loadBalancer.listeners.some(({ protocol }) => readsRequests(protocol)))
    needs.add('l7.request-sizes')
  if (dedicatedProxy !== undefined && loadBalancer.listeners.some(({ protocol }) => isProxied(protocol)))
    needs.add('l7.dedicated-proxy')
  // Every node can translate addresses. An older one may not know how to forward without that.
  if (returnPath === 'dsr' && loadBalancer.listeners.length > 0) needs.add('dsr')
  for (const { protocol, routes, tls, latencies, routeFigures, accessLog } of loadBalancer.listeners) {
    needs.add(isProxied(protocol) ? `l7.${protocol}` : `l4.${protocol}`)
    if (tls !== null && tls.clientCertificates !== null) needs.add('l7.client-certificates')
    if ((tls?.clientCertificates?.crlCertificateId ?? null) !== null) needs.add('l7.client-certificates.crl')
    if (tls?.clientCertificates?.acceptInvalid) needs.add('l7.client-certificates.invalid')
    if (tls !== null && tls.ciphers !== null) needs.add('l7.tls-ciphers')
    if (tls?.separateHosts !== undefined) needs.add('l7.separate-hosts')
    for (const feature of featuresOfRoutes(routes)) needs.add(feature)
    if (latencies) needs.add('l7.latencies')
    if (routeFigures) needs.add('l7.latencies.routes')
    if (accessLog) needs.add(accessLogFeature(accessLog.syslog))
  }
  const used = usedPoolIds(loadBalancer.listeners)
  for (const pool of loadBalancer.pools) {
    if (!used.has(pool.id)) continue
    if (proxyProtocolOf(pool) !== 'none') needs.add('l7.proxy-protocol')
    if (pool.tls !== undefined) needs.add('l7.pool-tls')
    if (pool.http2 !== undefined) needs.add('l7.pool-h2c')
    if (pool.tls?.crlCertificateId !== undefined) needs.add('l7.pool-tls.crl')
    if (pool.tls?.ciphers !== undefined) needs.add('l7.tls-ciphers')
    if (pool.persistence?.type === 'cookie') needs.add('l7.cookies')
    if (pool.persistence?.type === 'cookie' && pool.persistence.cookie !== undefined) needs.add('l7.cookies.attributes')
    if (pool.persistence?.type === 'application-cookie') needs.add('l7.application-cookies')
  }
  return [...needs].sort()
}

function planPools(input: LoadBalancerPlanInput): ReturnType<typeof planPool>[] | null {
  const { loadBalancer, previous, freePoolNumber } = input
  // Pool numbers belong to a network. In another network they are chosen anew.
  const known = previous?.networkId === loadBalancer.networkId ? previous.pools : []
  const numbers = new Map(known.map((pool) => [pool.poolId, pool.number]))
  const before = new Map(previous?.pools.map((pool) => [pool.poolId, pool]))
  const nodesHad = new Map(input.entryBefore?.pools.map((pool) => [pool.id, pool.members]))
  const own = new Set(numbers.values())
  const planned: ReturnType<typeof planPool>[] = []
  let last = 0
  for (const pool of loadBalancer.pools) {
    let number = numbers.get(pool.id) ?? null
    if (number === null) {
      do number = freePoolNumber(number ?? last)
      while (number !== null && own.has(number))
      if (number === null) return null
      last = number
    }
    planned.push(
      planPool(loadBalancer, pool, number, before.get(pool.id) ?? null, input.certificateOf, nodesHad.get(pool.id)),
    )
  }
  return planned
}

function loadBalancerEntry(
  loadBalancer: LoadBalancer,
  domain: number,
  planned: readonly NodePool[],
  around: ListenerSurroundings & Pick<LoadBalancerPlanInput, 'dedicatedProxy' | 'requestSizes'>,
): LoadBalancerEntry {
  const disabled = new Set(loadBalancer.pools.flatMap((pool) => (pool.enabled ? [] : [pool.id])))
  const pools = loadBalancer.enabled ? planned.filter((pool) => !disabled.has(pool.id)) : []
  const numbers = new Map(pools.map((pool) => [pool.id, pool.number]))
  return {
    kind: 'load-balancer',
    version: NODE_STATE_VERSION,
    key: loadBalancerKey(loadBalancer.id),
    id: loadBalancer.id,
    generation: loadBalancer.generation,
    domain,
    vips: loadBalancer.vips.map((vip) => ({ address: vip.address, scope: vip.scope, announce: null })),
    services: loadBalancer.enabled
      ? loadBalancer.listeners
          .filter((listener) => listener.enabled)
          .flatMap((listener) => service(listener, loadBalancer.projectId, numbers, around))
      : [],
    pools,
    ...(around.dedicatedProxy === undefined ? {} : { dedicatedProxy: around.dedicatedProxy }),
    ...(around.requestSizes === undefined ? {} : { requestSizes: around.requestSizes }),
  }
}

function accessLogOf(
  { format, syslog }: AccessLog,
  projectId: string,
  certificateOf: CertificateOf,
): Pick<Service, 'accessLog'> {
  if (syslog === null) return { accessLog: { format, projectId } }
  const planned = planSyslog(syslog, certificateOf)
  return planned === null ? {} : { accessLog: { format, projectId, syslog: planned } }
}

/** The facts about a listener's service that the listener does not contain. */
type ListenerSurroundings = Pick<
  LoadBalancerPlanInput,
  'certificateOf' | 'connectionLimit' | 'nodeRoutes' | 'entryBefore' | 'securityRules'
>

function service(
  listener: LoadBalancer['listeners'][number],
  projectId: string,
  numbers: ReadonlyMap<string, number>,
  { certificateOf, connectionLimit: limit, nodeRoutes, entryBefore, securityRules = null }: ListenerSurroundings,
): readonly Service[] {
  const tls = planTls(listener, certificateOf)
  if (tls === null) return []
  const { clientMs, connectMs, memberMs, inspectMs } = listener.timeouts
  const inspected = listener.protocol === 'tls-passthrough' && inspectMs > 0
  const routesBefore = entryBefore?.services.find(({ id }) => id === listener.id)?.routes
  return [
    {
      id: listener.id,
      protocol: listener.protocol,
      port: listener.port,
      pool: listener.defaultPoolId === null ? null : (numbers.get(listener.defaultPoolId) ?? null),
      connectionLimit: limit === null ? listener.connectionLimit : Math.min(listener.connectionLimit ?? limit, limit),
      allowedCidrs: admittedSources(listener, securityRules),
      timeouts: { clientMs, connectMs, memberMs, ...(inspected ? { inspectMs } : {}) },
      insertHeaders: listener.insertHeaders,
      ...planRoutes(listener.routes, numbers, routesBefore, nodeRoutes, certificateOf),
      ...tls,
      ...(listener.latencies ? { latencies: true as const } : {}),
      ...(listener.routeFigures ? { routeFigures: true as const } : {}),
      ...(listener.accessLog ? accessLogOf(listener.accessLog, projectId, certificateOf) : {}),
    },
  ]
}

const announced = (entry: LoadBalancerEntry, how: ((at: number) => Announce) | null): LoadBalancerEntry => ({
  ...entry,
  vips: entry.vips.map((vip, at) => ({ ...vip, announce: how === null ? null : how(at) })),
})

type Place = Pick<Placement, 'ownerNodeId' | 'shard'>
const NOWHERE: Place = { ownerNodeId: null, shard: null }

function remember(
  input: LoadBalancerPlanInput,
  { ownerNodeId, shard }: Place,
  reason: Reason,
  pools: Placement['pools'],
): { readonly placement: Placement; readonly reason: Reason } {
  const { loadBalancer, previous, now } = input
  const decided = { networkId: loadBalancer.networkId, ownerNodeId, shard, reason, pools }
  if (previous !== null) {
    const { networkId, ownerNodeId: owner, shard: part, reason: why, pools: before } = previous
    const known = { networkId, ownerNodeId: owner, shard: part, reason: why, pools: before }
    if (sameJson(known, decided)) return { placement: previous, reason }
  }
  const meta = { id: loadBalancer.id, name: '', description: '' }
  const times = { createdAt: previous?.createdAt ?? now, updatedAt: previous === null ? null : now }
  return { placement: { ...meta, ...times, ...decided }, reason }
}
