import { Endpoints } from '@spout/client/endpoints'
import { sessionsOf } from '@spout/connector'
import { KubernetesConfiguration } from '@spout/intent-kubernetes-config'
import { Lifecycle, type Logger, systemClock } from '@spout/runtime'
import { ConfigError } from '@spout/runtime/config'
import { Metrics } from '@spout/runtime/metrics'
import { StatusServer } from '@spout/runtime/status-server'
import { clusterTransport } from './cluster-transport.ts'
import type { ConnectorConfig } from './config.ts'
import type { RunningConnector } from './connector.ts'
import { eventsOf } from './events.ts'

/**
 * Starts the other work: it applies objects of group `spout.dev` to the control plane, with an administrator's token. It is
 * a process and an account of its own, so that whoever takes over the process that balances cannot configure.
 */
export async function startConfiguration(
  config: ConnectorConfig,
  environment: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<RunningConnector> {
  const clock = systemClock
  if (config.projects.length > 0)
    throw new ConfigError('projects: cannot be combined with work=configuration, which uses one administrator')
  const { follow, ...nodes } = config.configuration.nodes
  const { transport } = await clusterTransport(config, environment)
  const events = eventsOf('configuration', transport, log)
  const configuration = new KubernetesConfiguration({
    transport,
    sessions: sessionsOf(new Endpoints(config.spout.endpoint), config.spout, 'spout', clock),
    cluster: config.kubernetes.clusterName,
    project: config.configuration.project,
    nodes: follow ? nodes : null,
    events,
    clock,
    log,
  })
  const metrics = new Metrics()
  metrics.gauge({ name: 'process_resident_memory_bytes', help: "The connector's memory" }, () => [
    { labels: {}, value: process.memoryUsage.rss() },
  ])
  const http = new StatusServer({
    name: 'http',
    ...config.http,
    metrics,
    readiness: () => (configuration.ready ? null : 'the cluster or the control plane has not been read yet'),
  })
  const lifecycle = new Lifecycle({ log })
    .add({ name: 'transport', start: () => {}, stop: () => transport.close() })
    .add({ name: 'events', start: () => {}, stop: () => events.close() })
    .add(http)
    .add(configuration)
  await lifecycle.start()
  log.info({ event: 'listening', httpPort: http.port }, 'the connector is up')
  // This process never deletes an object because the cluster lacks it, so there is nothing to confirm.
  return { stop: () => lifecycle.stop(), confirm: () => {} }
}
