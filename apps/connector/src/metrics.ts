import { Metrics } from '@spout/runtime/metrics'
import type { Balancing } from './balancing.ts'

const one = (value: number) => [{ labels: {}, value }]

/** The connector's own metrics; their number does not grow with the number of Services. */
export function connectorMetrics(balancing: Balancing, leads: () => boolean): Metrics {
  const metrics = new Metrics()
  describeConnector(metrics, balancing, leads)
  return metrics
}

/** Every metric of a connector. */
export function describeConnector(metrics: Metrics, balancing: Balancing, leads: () => boolean): void {
  const counters = () => balancing.counters
  metrics.gauge({ name: 'spout_connector_leader', help: '1 on the connector that leads' }, () => one(leads() ? 1 : 0))
  metrics.gauge({ name: 'spout_connector_services', help: 'Services that are balanced' }, () =>
    one(counters()?.services ?? 0),
  )
  metrics.gauge({ name: 'spout_connector_services_refused', help: 'Services whose request is refused' }, () =>
    one(counters()?.refused ?? 0),
  )
  metrics.gauge({ name: 'spout_connector_load_balancers', help: 'Load balancers of this cluster' }, () =>
    one(counters()?.loadBalancers ?? 0),
  )
  metrics.gauge({ name: 'spout_connector_queue', help: 'Keys that wait to be reconciled' }, () =>
    one(counters()?.queued ?? 0),
  )
  metrics.counters({ name: 'spout_connector_status_writes_total', help: 'Statuses of Services written' }, () =>
    one(counters()?.statusWrites ?? 0),
  )
  const gateways = () => balancing.gatewayCounters
  metrics.gauge({ name: 'spout_connector_gateways', help: 'Gateways that are served' }, () =>
    one(gateways()?.gateways ?? 0),
  )
  metrics.counters(
    { name: 'spout_connector_gateway_status_writes_total', help: 'Statuses of classes, Gateways and routes written' },
    () => one(gateways()?.statusWrites ?? 0),
  )
  const ingresses = () => balancing.ingressCounters
  metrics.gauge({ name: 'spout_connector_ingresses', help: 'Ingresses that are balanced' }, () =>
    one(ingresses()?.ingresses ?? 0),
  )
  metrics.counters({ name: 'spout_connector_ingress_status_writes_total', help: 'Statuses of Ingresses written' }, () =>
    one(ingresses()?.statusWrites ?? 0),
  )
  metrics.gauge({ name: 'spout_connector_load_balancer_objects', help: 'LoadBalancer objects that are served' }, () =>
    one(balancing.loadBalancerCounters?.loadBalancers ?? 0),
  )
  metrics.gauge(
    { name: 'spout_connector_objects', help: 'Objects of the cluster kept in memory', labels: ['kind'] },
    () => balancing.reflectors.map(({ kind, reflector }) => ({ labels: { kind }, value: reflector.size })),
  )
  metrics.gauge(
    {
      name: 'spout_connector_held_objects',
      help: 'Missing objects that the deletion guard holds: their load balancers stay',
      labels: ['kind'],
    },
    () =>
      balancing.reflectors.map(({ kind, reflector }) => ({
        labels: { kind },
        value: reflector.deletionGuard?.heldKeys.size ?? 0,
      })),
  )
  metrics.counters({ name: 'spout_connector_lists_total', help: 'Complete lists read', labels: ['kind'] }, () =>
    balancing.reflectors.map(({ kind, reflector }) => ({ labels: { kind }, value: reflector.counters.lists })),
  )
  metrics.gauge({ name: 'process_resident_memory_bytes', help: "The connector's memory" }, () =>
    one(process.memoryUsage.rss()),
  )
}
