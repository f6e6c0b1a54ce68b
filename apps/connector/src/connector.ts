import { hostname } from 'node:os'
import { Leadership } from '@spout/connector'
import { Lifecycle, type Logger, systemClock } from '@spout/runtime'
import { StatusServer } from '@spout/runtime/status-server'
import { Balancing } from './balancing.ts'
import { clusterTransport } from './cluster-transport.ts'
import type { ConnectorConfig } from './config.ts'
import { eventsOf } from './events.ts'
import { connectorMetrics } from './metrics.ts'
import { checkExternalRanges, configuredProjects } from './projects.ts'

export interface RunningConnector {
  stop(): Promise<void>
  /** An operator confirms that missing Services were deleted. */
  confirm(): void
}

/**
 * Puts the parts together and starts them.
 * @param onLost called when another connector may lead: the process must end at once
 */
export async function startConnector(
  config: ConnectorConfig,
  environment: Readonly<Record<string, string | undefined>>,
  log: Logger,
  onLost: (reason: string) => void,
): Promise<RunningConnector> {
  const clock = systemClock
  const projects = configuredProjects(config, clock)
  checkExternalRanges(config)
  const { access, transport } = await clusterTransport(config, environment)
  const events = eventsOf('connector', transport, log)
  const balancing = new Balancing({ config, transport, projects, events, clock, log })
  const { elect, namespace, lease, leaseSeconds } = config.leader
  const leadership = new Leadership({
    work: balancing,
    lease: elect ? { transport, namespace: namespace || access.namespace, name: lease, seconds: leaseSeconds } : null,
    identity: hostname(),
    log,
    onLost,
  })
  const http = new StatusServer({
    name: 'http',
    ...config.http,
    metrics: connectorMetrics(balancing, () => leadership.leads),
    // A connector that waits to become the leader is ready.
    readiness: () =>
      !leadership.leads || balancing.ready ? null : 'the cluster or the control plane has not been read yet',
  })
  const lifecycle = new Lifecycle({ log })
    .add({ name: 'transport', start: () => {}, stop: () => transport.close() })
    .add({ name: 'events', start: () => {}, stop: () => events.close() })
    .add(http)
    .add(leadership)
  await lifecycle.start()
  log.info({ event: 'listening', httpPort: http.port }, 'the connector is up')
  return { stop: () => lifecycle.stop(), confirm: () => balancing.confirm() }
}
