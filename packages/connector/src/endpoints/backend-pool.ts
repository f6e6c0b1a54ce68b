import type { EndpointSlice, Protocol, Service } from '@spout/kube'
import { DEFAULT_DRAIN_S } from '@spout/model'
import type { Family } from '../addresses/address-request.ts'
import type { MonitorContent, PoolContent } from '../content/content.ts'
import { type OrRefusal, refuse, shown } from '../refusal.ts'
import { endpointMembers, type TargetPort } from './endpoints.ts'

/** A reference to a port of a Service, by number or by name. */
export interface PortReference {
  readonly name?: string
  readonly number?: number
  /** TCP when left out. */
  readonly transport?: Protocol
}

/**
 * Endpoints of TCP ports are checked by a connection, like those of Services of type LoadBalancer. UDP is not checked.
 */
const MONITOR: MonitorContent = { type: 'tcp', intervalMs: 1000, timeoutMs: 800, rise: 2, fall: 3, path: null }
const PANIC_PERCENT = 10

/**
 * Finds the port of a Service that a route sends to. A Service of type ExternalName is refused: its name could resolve
 * to an address in somebody else's network.
 * @param service undefined when it does not exist
 * @param key `namespace/name` of the Service
 * @param field the field of the route that names it, for a refusal
 */
export function backendPort(
  service: Service | undefined,
  key: string,
  { name, number, transport = 'TCP' }: PortReference,
  field: string,
): OrRefusal<TargetPort> {
  if (service === undefined) return refuse('BackendNotFound', field, `There is no Service ${shown(key)}.`)
  if (service.spec.type === 'ExternalName')
    return refuse('UnsupportedBackend', field, `Service ${shown(key)} is of type ExternalName, which has no endpoints.`)
  const ports = (service.spec.ports ?? []).filter(({ protocol }) => (protocol ?? 'TCP') === transport)
  const found = ports.find((port) => (name === undefined ? port.port === number : port.name === name))
  if (found !== undefined)
    return {
      value: {
        name: found.name ?? '',
        protocol: transport,
        port: found.port,
        targetPort: typeof found.targetPort === 'number' ? found.targetPort : null,
      },
    }
  const which = name === undefined ? `number ${number ?? '(none)'}` : `name "${shown(name)}"`
  return refuse('BackendPortNotFound', field, `Service ${shown(key)} has no ${transport} port of ${which}.`)
}

/** A pool, and how many endpoints it has no room for. */
export interface BackendPool {
  readonly pool: PoolContent
  readonly leftOut: number
}

/**
 * A pool with the endpoints of one port of a Service.
 * @param poolName unique in the document
 * @param families the address families that members can have
 */
export function backendPool(
  poolName: string,
  port: TargetPort,
  slices: readonly EndpointSlice[],
  families: readonly Family[],
  protocol: PoolContent['protocol'] = 'http',
): BackendPool {
  const { members, leftOut } = endpointMembers(slices, port, { families, preferZone: null, protocol })
  const pool = {
    name: poolName,
    protocol,
    persistence: null,
    panicThreshold: PANIC_PERCENT,
    drainSeconds: protocol === 'udp' ? 0 : DEFAULT_DRAIN_S,
    members: members.map((one) => ({ ...one, monitorPort: null })),
    monitor: protocol === 'udp' ? null : MONITOR,
  }
  return { pool, leftOut }
}
