import {
  type HealthMonitor,
  LISTENER_DEFAULTS,
  type LoadBalancer,
  type LocalCheck,
  type LocalLoadBalancer,
  localLoadBalancerId,
} from '@spout/model'

/** Where it belongs, and what its objects are called. */
export interface LocalPlace {
  readonly projectId: string
  readonly networkId: string | null
  readonly nodeGroupId: string | null
  readonly createdAt: string
  readonly ids: LocalIds
}

export interface LocalIds {
  readonly loadBalancer: string
  readonly vip: string
  readonly listener: string
  readonly pool: string
  readonly monitor: string
  readonly member: (address: string, port: number) => string
}

/** The ids on nodes. They derive from the name and the members' addresses, so that every node has the same. */
export function idsOnNodes(name: string): LocalIds {
  const id = localLoadBalancerId(name)
  const member = (address: string, port: number) => `${id}-${address}-${port}`
  return { loadBalancer: id, vip: id, listener: id, pool: id, monitor: id, member }
}

/** As admission would store it. */
export function localLoadBalancer(given: LocalLoadBalancer, place: LocalPlace): LoadBalancer {
  const { name, address, port, members, check } = given
  const { projectId, networkId, nodeGroupId, createdAt, ids } = place
  const common = { name, description: '', createdAt, updatedAt: null, tags: [], enabled: true }
  return {
    ...{ ...common, id: ids.loadBalancer, projectId, networkId, generation: 1, nodeGroupId, annotations: {} },
    vips: [{ addressId: ids.vip, address, scope: 'fabric', poolId: null, networkId: null, subnetId: null }],
    listeners: [
      {
        ...{ ...common, id: ids.listener, ...LISTENER_DEFAULTS, protocol: 'tcp', port },
        ...{ defaultPoolId: ids.pool, routes: [], tls: null },
      },
    ],
    pools: [
      {
        ...{ ...common, id: ids.pool },
        protocol: 'tcp',
        algorithm: 'round-robin',
        persistence: null,
        members: members.map((member) => ({
          ...{ ...common, id: ids.member(member.address, member.port), address: member.address, port: member.port },
          ...{ subnetId: null, weight: 1, backup: false, monitorAddress: null, monitorPort: null },
        })),
        monitor: { ...common, id: ids.monitor, ...monitorOf(check) },
        // While no member passes its check, all get connections: one may serve in spite of it.
        panicThreshold: 1,
        slowStartSeconds: 0,
        drainSeconds: 300,
        // A client of a dead machine must not wait for its own time-out.
        resetOnDown: true,
        passiveCheck: null,
      },
    ],
  }
}

const monitorOf = ({
  type,
  path,
  ...times
}: LocalCheck): Pick<HealthMonitor, 'type' | 'http' | keyof Omit<LocalCheck, 'path'>> => ({
  ...times,
  type,
  http:
    path === null
      ? null
      : { method: 'GET', path, expectedCodes: [{ first: 200, last: 299 }], version: '1.1', host: null },
})
