import {
  clusterObjects,
  hasShards,
  isProxied,
  type Listener,
  type LoadBalancer,
  type LoadBalancerStatus,
  lacksPool,
  listenerBehind,
  type Member,
  type NodeConnection,
  type Placement,
  type Pool,
  type SecurityRule,
  type ServiceStats,
} from '@spout/model'
import { admittedSources, compileRoutes, isPanicking, unreachableRoutes, whyNotPlaced } from '@spout/plan'
import type { NativeContext } from '../operations/context.ts'
import { announcersOf, vipsOf } from './known-vip.ts'

/** The path of a connection from the address to the members. Each step has its state and the reason for it. */
export function explain(context: NativeContext, loadBalancer: LoadBalancer) {
  const { view } = context
  const status = context.status.loadBalancer(loadBalancer.id)
  const placement = view.get('placement', loadBalancer.id)?.value
  const ownerId = status.ownerNodeId ?? placement?.ownerNodeId ?? null
  const name = ownerId === null ? null : (view.get('node', ownerId)?.value.name ?? null)
  const rules = securityRulesOf(context, loadBalancer)
  const owner = ownerId === null ? null : { id: ownerId, name, connection: context.status.node(ownerId).connection }
  return {
    loadBalancer: {
      id: loadBalancer.id,
      name: loadBalancer.name,
      projectId: loadBalancer.projectId,
      enabled: loadBalancer.enabled,
    },
    madeFor: clusterObjects(loadBalancer.annotations),
    state: { provisioning: status.provisioning, reason: status.reason, message: status.message },
    serving: status.serving,
    ...(status.notice && { notice: status.notice }),
    owner,
    ownerReason: placement === undefined ? whyNotPlaced(loadBalancer) : ownerReason(owner, placement),
    vips: vipsOf(context, loadBalancer).map((known) => ({
      address: known.vip.address,
      scope: known.vip.scope,
      announcedBy: announcersOf(context, known),
      pool: poolOf(context, known.vip.poolId),
    })),
    dns: context.dns.names(loadBalancer.id),
    returnPath: returnPathOf(context, loadBalancer),
    proxy: explainProxy(context, loadBalancer),
    connections: connectionsOutlive(context, loadBalancer, placement),
    listeners: loadBalancer.listeners.map((listener) =>
      explainListener(loadBalancer, listener, rules, status.stats.get(listener.id)),
    ),
    pools: loadBalancer.pools.map((pool) => explainPool(pool, status)),
    nodes: status.nodes,
    lastChange: {
      generation: loadBalancer.generation,
      at: loadBalancer.updatedAt ?? loadBalancer.createdAt,
      confirmedGeneration: status.confirmedGeneration,
      confirmedAt: status.confirmedAt,
    },
  }
}

/** The proxy process of its proxied listeners on each node; null if it has none of these. */
function explainProxy({ view }: NativeContext, { classId, listeners }: LoadBalancer) {
  if (!listeners.some(({ protocol }) => isProxied(protocol))) return null
  const ofClass = view.get('loadBalancerClass', classId ?? '')?.value
  const limits = ofClass?.dedicatedProxy
  const sizes = ofClass?.requestSizes
  const refused = sizes === undefined ? {} : { requestSizes: sizes }
  return limits === undefined
    ? { dedicated: false, ...refused }
    : { dedicated: true, className: ofClass?.name ?? null, limits, ...refused }
}

/**
 * The address pool of an address, and whether it still gives out addresses; null for an address of a tenant's own
 * network.
 */
function poolOf({ view }: NativeContext, poolId: string | null) {
  const pool = poolId === null ? undefined : view.get('addressPool', poolId)?.value
  return pool === undefined ? null : { id: pool.id, name: pool.name, draining: pool.draining }
}

/** Null while the load balancer has no network. Nodes' own settings always say `snat`. */
function returnPathOf({ view }: NativeContext, { networkId, localName }: LoadBalancer) {
  if (localName !== undefined) return 'snat'
  return networkId === null ? null : (view.get('network', networkId)?.value.returnPath ?? null)
}

/** Whether established connections outlive their node, and how; null while the load balancer has no network. */
function connectionsOutlive(
  context: NativeContext,
  loadBalancer: LoadBalancer,
  placement: Placement | undefined,
): string | null {
  const { view } = context
  const { listeners } = loadBalancer
  const path = returnPathOf(context, loadBalancer)
  if (path === null) return null
  const hasSctp = listeners.some(({ protocol }) => protocol === 'sctp')
  const but = hasSctp ? 'proxied ones and SCTP associations do not' : 'proxied ones do not'
  if (path === 'gateway') return `return path gateway: established connections outlive a node, ${but}`
  if (path === 'dsr')
    return 'return path dsr, nodes keep no state of flows: established connections outlive a node; a change of members ends those whose hash slot it moves'
  if (path === 'node')
    return "return path node, a connection is known to its member's node: it outlives every other node, unless its hash slot has moved to another member since; proxied ones do not"
  const groupId = placement?.shard?.nodeGroupId
  const group = groupId === undefined ? undefined : view.get('nodeGroup', groupId)?.value
  const nodes = view.list('node').filter(({ nodeGroupId }) => nodeGroupId === groupId)
  const network = view.get('network', loadBalancer.networkId ?? '')?.value
  const isHosted = context.hostSegments.includes(network?.segment.physicalNetwork ?? '')
  return !isHosted && group !== undefined && hasShards(group) && group.flowsKey !== undefined && nodes.length > 1
    ? `return path snat, flows replicated between the group's nodes: established connections outlive a node, ${but}`
    : 'return path snat, flows known to their node alone: established connections end with it'
}

function ownerReason(
  owner: { readonly name: string | null; readonly connection: NodeConnection } | null,
  placement: Placement,
) {
  if (owner === null || owner.connection === 'connected' || placement.shard !== null) return placement.reason
  const message = `Node \`${owner.name}\` does not report at the moment; it keeps forwarding what it has, until its addresses move to another node.`
  return { code: 'NodeDisconnected', message }
}

/** The rules of all its security groups; null when it names none. */
function securityRulesOf({ view }: NativeContext, { securityGroupIds = [] }: LoadBalancer) {
  if (securityGroupIds.length === 0) return null
  return securityGroupIds.flatMap((id) => view.get('securityGroup', id)?.value.rules ?? [])
}

function explainListener(
  loadBalancer: LoadBalancer,
  listener: Listener,
  rules: readonly SecurityRule[] | null,
  stats: ServiceStats | undefined,
) {
  const enabled = loadBalancer.listeners.filter((one) => one.enabled)
  const others = listenerBehind(listener, enabled)
  return {
    id: listener.id,
    name: listener.name,
    protocol: listener.protocol,
    port: listener.port,
    poolId: listener.defaultPoolId,
    /** The sources that its list and its load balancer's security groups admit; null: all. */
    allowedCidrs: admittedSources(listener, rules),
    /** Whether clients need a certificate; null: they are not asked for one. */
    clientCertificates: clientCertificatesOf(listener),
    /** Whether these are looked up in a revocation list. */
    clientRevocations: (listener.tls?.clientCertificates?.crlCertificateId ?? null) !== null,
    /**
     * The listener of the same port that gets connections for names that this one has no route for; null: none does.
     */
    others: others === undefined ? null : { id: others.id, name: others.name },
    answers: loadBalancer.enabled && listener.enabled,
    why: !loadBalancer.enabled
      ? 'the load balancer is disabled'
      : !listener.enabled
        ? 'the listener is disabled'
        : lacksPool(listener, enabled)
          ? 'it has no pool: connections are refused'
          : null,
    stats: stats ?? null,
    routes: explainRoutes(listener.routes),
  }
}

function clientCertificatesOf({ tls }: Listener): 'required' | 'optional' | 'any' | null {
  const { clientCertificates = null } = tls ?? {}
  if (clientCertificates === null) return null
  if (clientCertificates.acceptInvalid) return 'any'
  return clientCertificates.required ? 'required' : 'optional'
}

/** Routes in their order. A route is not reached when earlier ones take every request that it matches. */
function explainRoutes(routes: Listener['routes']) {
  const enabled = routes.filter((route) => route.enabled)
  const compiled = compileRoutes(enabled)
  const unreachable = new Set(compiled === null ? [] : unreachableRoutes(compiled))
  return routes.map((route) => {
    const { id, name, conditions, action } = route
    return { id, name, enabled: route.enabled, reached: route.enabled && !unreachable.has(route), conditions, action }
  })
}

function explainPool(pool: Pool, status: LoadBalancerStatus) {
  const isDown = (member: Member) => status.members.get(member.id)?.health === 'down'
  const enabled = { ...pool, members: pool.members.filter((member) => member.enabled) }
  const panic = isPanicking(enabled, new Set(enabled.members.filter(isDown).map(({ id }) => id)))
  const healthy = pool.members.filter((member) => !isDown(member))
  const primaries = healthy.filter((member) => member.enabled && !member.backup && member.weight > 0)
  return {
    id: pool.id,
    name: pool.name,
    protocol: pool.protocol,
    algorithm: pool.algorithm,
    enabled: pool.enabled,
    /** How members are spoken to with TLS; null: without. */
    tls:
      pool.tls === undefined
        ? null
        : {
            checked: pool.tls.caCertificateId !== null,
            revocations: pool.tls.crlCertificateId !== undefined,
            serverName: pool.tls.serverName,
          },
    /** This part of new connections is refused, although members answer. */
    refusedPercent: pool.refusedPercent ?? 0,
    monitored: pool.monitor?.enabled === true,
    panic,
    members: pool.members.map((member) => {
      const health = status.members.get(member.id)
      const why = whyIdle(pool, member, panic ? 'up' : (health?.health ?? 'unknown'), primaries.length > 0)
      return {
        id: member.id,
        name: member.name,
        address: member.address,
        port: member.port,
        weight: member.weight,
        health: health?.health ?? (pool.monitor === null ? 'unmonitored' : 'unknown'),
        reason: health?.reason ?? null,
        since: health?.since ?? null,
        takesTraffic: why === null,
        why,
      }
    }),
  }
}

/** Why a member gets no new connections; null if it does. */
function whyIdle(pool: Pool, member: Member, health: string, hasPrimaries: boolean): string | null {
  if (!pool.enabled) return 'the pool is disabled'
  if (!member.enabled) return 'the member is disabled'
  if (member.weight === 0) return 'its weight is 0'
  if (health === 'down') return 'it is down'
  if (member.backup && hasPrimaries) return 'it is a backup and others are up'
  return null
}
