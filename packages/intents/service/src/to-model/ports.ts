import { keyOf, type TargetPort } from '@spout/connector'
import type { Protocol, Service, ServicePort } from '@spout/kube'
import type { PortKey } from '../names.ts'
import type { Mode } from './mode.ts'

/** One port of a Service, whether it is balanced or not. */
export interface BalancedPort extends TargetPort {
  readonly key: PortKey
  readonly transport: 'tcp' | 'udp' | 'sctp'
  readonly nodePort: number | null
  readonly error: PortError | null
}

/** Why one port is refused while the others are served. */
export interface PortError {
  /** For `ingress[].ports[].error`: CamelCase with our prefix. */
  readonly error: string
  readonly message: string
}

const TRANSPORT: Readonly<Record<Protocol, BalancedPort['transport']>> = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' }

/**
 * The ports of a Service, sorted by protocol and number. A number may occur once per protocol.
 * @param transports what the control plane can balance
 */
export function portsOf(service: Service, mode: Mode, transports: ReadonlySet<string>): readonly BalancedPort[] {
  const ports = (service.spec.ports ?? []).map((port) => balanced(port, mode, transports))
  const unique = new Map(ports.map((port) => [port.key, port]))
  return [...unique.values()].sort((a, b) =>
    a.transport < b.transport ? -1 : a.transport > b.transport ? 1 : a.port - b.port,
  )
}

function balanced(port: ServicePort, mode: Mode, transports: ReadonlySet<string>): BalancedPort {
  const protocol = port.protocol ?? 'TCP'
  const transport = TRANSPORT[protocol] ?? 'tcp'
  const nodePort = port.nodePort !== undefined && port.nodePort > 0 ? port.nodePort : null
  return {
    key: `${transport}/${port.port}`,
    transport,
    protocol,
    port: port.port,
    name: port.name ?? '',
    targetPort: typeof port.targetPort === 'number' && port.targetPort > 0 ? port.targetPort : null,
    nodePort,
    error: errorOf(transport, nodePort, mode, transports),
  }
}

function errorOf(
  transport: string,
  nodePort: number | null,
  mode: Mode,
  transports: ReadonlySet<string>,
): PortError | null {
  if (!transports.has(transport))
    return {
      error: 'spout.dev/UnsupportedProtocol',
      message: `protocol ${transport.toUpperCase()} cannot be balanced here`,
    }
  if (mode === 'node-ports' && nodePort === null)
    return { error: 'spout.dev/NoNodePort', message: 'it has no node port, and this Service is reached by node ports' }
  return null
}

/** The error of a port that another Service has on the shared address. Names that Service only within its namespace. */
export const portTaken = (service: Service, holder: Service): PortError => ({
  error: 'spout.dev/PortTaken',
  message:
    service.metadata.namespace === holder.metadata.namespace
      ? `${keyOf(holder)} has it on the shared address`
      : 'another Service has it on the shared address',
})
