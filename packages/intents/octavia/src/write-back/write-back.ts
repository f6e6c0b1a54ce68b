import { poolIdsOf, type ServiceStats, type Vip } from '@spout/model'
import { LongList } from '@spout/runtime'
import { type MonitorReading, monitorResource } from '../resources/health-monitor.ts'
import { isOnline, type PolicyReading, policyResource } from '../resources/l7policy.ts'
import { type RuleReading, ruleResource, ruleSpecOf } from '../resources/l7rule.ts'
import { type ListenerReading, listenerResource } from '../resources/listener.ts'
import { loadBalancerResource } from '../resources/load-balancer.ts'
import { type MemberReading, memberResource } from '../resources/member.ts'
import { type PoolReading, poolResource } from '../resources/pool.ts'
import type { Amphora } from '../snapshots/amphorae.ts'
import { childProvisioning, type Snapshot } from '../snapshots/snapshot.ts'
import type { OctaviaListener, OctaviaPool } from '../terms/octavia-resources.ts'
import { printObject } from '../wire/field.ts'

/** Prints model and status as Octavia's JSON. Pure: the same snapshot prints the same text. */
type Json = Readonly<Record<string, unknown>>

export const listenerReadings = (snapshot: Snapshot): readonly ListenerReading[] =>
  snapshot.graph().listeners.map((listener) => ({ ...listener, snapshot }))

export const poolReadings = (snapshot: Snapshot): readonly PoolReading[] =>
  snapshot.graph().pools.map((pool) => ({ ...pool, snapshot }))

/** By listener and position. */
export const policyReadings = (snapshot: Snapshot): readonly PolicyReading[] =>
  snapshot
    .graph()
    .listeners.flatMap(({ model, policies }) =>
      policies.map((policy, at) => ({ ...policy, listenerId: model.id, position: at + 1, snapshot })),
    )

export const ruleReadings = (snapshot: Snapshot, policyId: string): readonly RuleReading[] =>
  policyReadings(snapshot)
    .filter(({ model }) => model.id === policyId)
    .flatMap((policy) =>
      policy.rules.map((rule) => ({ ...ruleSpecOf(rule), snapshot, policyId, isPolicyOnline: isOnline(policy) })),
    )

export const memberReadings = (snapshot: Snapshot, poolId: string): readonly MemberReading[] =>
  (snapshot.lb.pools.find(({ id }) => id === poolId)?.members ?? []).map((model) => ({ model, snapshot }))

export const monitorReadings = (snapshot: Snapshot): readonly MonitorReading[] =>
  snapshot
    .graph()
    .pools.flatMap(({ model, monitor }) => (monitor === null ? [] : [{ ...monitor, poolId: model.id, snapshot }]))

/** The answer to a creation: the load balancer with all its children in full. */
export function printGraph(snapshot: Snapshot, vips: readonly Vip[]): Json {
  const { listeners, pools } = snapshot.graph()
  return {
    ...printObject(loadBalancerResource.fields, { snapshot, vips }),
    listeners: listeners.map((listener) => printFullListener(snapshot, listener)),
    pools: LongList.of(pools, (pool) => printFullPool(snapshot, pool)),
  }
}

/** Prints a child of a graph without its parents, since they enclose it. */
function printFullListener(snapshot: Snapshot, resource: OctaviaListener): Json {
  const { loadbalancers: _, ...listener } = printObject(listenerResource.fields, { ...resource, snapshot })
  const l7policies = policyReadings(snapshot)
    .filter(({ listenerId }) => listenerId === resource.model.id)
    .map((policy) => ({
      ...printObject(policyResource.fields, policy),
      rules: ruleReadings(snapshot, policy.model.id).map((rule) => printObject(ruleResource.fields, rule)),
    }))
  return { ...listener, l7policies }
}

function printFullPool(snapshot: Snapshot, resource: OctaviaPool): Json {
  const {
    loadbalancers: _,
    healthmonitor_id: __,
    ...pool
  } = printObject(poolResource.fields, { ...resource, snapshot })
  return {
    ...pool,
    members: LongList.of(resource.model.members, (model) => printObject(memberResource.fields, { model, snapshot })),
    healthmonitor: resource.monitor && printFullMonitor(snapshot, resource.model.id, resource.monitor),
  }
}

function printFullMonitor(snapshot: Snapshot, poolId: string, resource: NonNullable<OctaviaPool['monitor']>): Json {
  const { pools: _, ...monitor } = printObject(monitorResource.fields, { ...resource, poolId, snapshot })
  return monitor
}

/** Prints the status tree: each listener with its pools. */
export function printStatusTree(snapshot: Snapshot): Json {
  const { lb } = snapshot
  const pools = new Map(lb.pools.map((pool) => [pool.id, pool]))
  const state = (child: {
    readonly id: string
    readonly name: string
    readonly createdAt: string
    readonly updatedAt: string | null
  }) => ({
    id: child.id,
    name: child.name,
    provisioning_status: childProvisioning(snapshot, child),
    operating_status: snapshot.operating(child.id),
  })
  const poolTree = (id: string) => {
    const pool = pools.get(id)
    if (pool === undefined) return []
    const { monitor, members } = pool
    return [
      {
        ...state(pool),
        // Without a monitor the attribute is absent, not null: Octavia prints no unset attribute here.
        ...(monitor && { health_monitor: { ...state(monitor), type: monitor.type.toUpperCase() } }),
        members: LongList.of(members, (member) => ({
          ...state(member),
          address: member.address,
          protocol_port: member.port,
        })),
      },
    ]
  }
  return {
    statuses: {
      loadbalancer: {
        ...state(lb),
        listeners: LongList.of(lb.listeners, (listener) => ({
          ...state(listener),
          pools: poolIdsOf(listener).flatMap(poolTree),
        })),
      },
    },
  }
}

/** Prints the sums of the counters of some listeners. */
export const printStats = ({ status }: Snapshot, listenerIds: readonly string[]): Json => ({
  stats: sumOf(listenerIds.flatMap((id) => status.stats.get(id) ?? [])),
})

/** Prints what one node counted, for each listener. @param stats the counters, by listener id */
export const printAmphoraStats = ({ id, loadBalancer }: Amphora, stats: ReadonlyMap<string, ServiceStats>): Json => ({
  amphora_stats: loadBalancer.listeners.map((listener) => {
    const counted = stats.get(listener.id)
    return {
      ...{ id, listener_id: listener.id, loadbalancer_id: loadBalancer.id },
      ...sumOf(counted === undefined ? [] : [counted]),
    }
  }),
})

function sumOf(counters: readonly ServiceStats[]): Json {
  const sum = (name: keyof ServiceStats & `${string}${'In' | 'Out' | 'Connections' | 'Errors'}`) =>
    counters.reduce((total, one) => total + one[name], 0)
  return {
    active_connections: sum('activeConnections'),
    bytes_in: sum('bytesIn'),
    bytes_out: sum('bytesOut'),
    request_errors: sum('requestErrors'),
    total_connections: sum('totalConnections'),
  }
}
