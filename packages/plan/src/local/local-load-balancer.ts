import {
  type HealthMonitor,
  LISTENER_DEFAULTS,
  type LoadBalancer,
  localLoadBalancerId,
  type Network,
} from '@spout/model'

/** A load balancer of a node's own settings, such as the address of a cluster's API servers. */
export interface LocalLoadBalancer {
  readonly name: string
  /** IPv4, as those of the members. */
  readonly address: string
  readonly port: number
  readonly members: readonly { readonly address: string; readonly port: number }[]
  readonly check: LocalCheck
}

export interface LocalCheck {
  readonly type: 'tcp' | 'http' | 'https'
  /** The requested path; null for type `tcp`. */
  readonly path: string | null
  readonly intervalMs: number
  readonly timeoutMs: number
  readonly rise: number
  readonly fall: number
}

const NONE = { description: '', createdAt: '1970-01-01T00:00:00.000Z', updatedAt: null }

/** As admission would store it. Ids derive from the name and the members' addresses, so that every node has the same. */
export function localLoadBalancer(given: LocalLoadBalancer, { id: networkId, projectId }: Network): LoadBalancer {
  const { name, address, port, members, check } = given
  const id = localLoadBalancerId(name)
  const meta = { id, name, ...NONE, tags: [], enabled: true }
  return {
    ...{ ...meta, projectId, networkId, generation: 1, nodeGroupId: null, annotations: {} },
    vips: [{ addressId: id, address, scope: 'fabric', poolId: null, networkId: null, subnetId: null }],
    listeners: [{ ...meta, ...LISTENER_DEFAULTS, protocol: 'tcp', port, defaultPoolId: id, routes: [], tls: null }],
    pools: [
      {
        ...meta,
        protocol: 'tcp',
        algorithm: 'round-robin',
        persistence: null,
        members: members.map((member) => ({
          ...{ ...meta, id: `${id}-${member.address}-${member.port}`, ...member },
          ...{ subnetId: null, weight: 1, backup: false, monitorAddress: null, monitorPort: null },
        })),
        monitor: { ...meta, ...monitorOf(check) },
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
