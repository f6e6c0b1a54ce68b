import {
  GATEWAYS,
  GatewayCluster,
  type GatewayControllerCounters,
  GatewayControllers,
  gatewaysOfCluster,
  NEEDED_KINDS,
} from '@spout/intent-gateway'
import { BalancedKind, type BalancedKindOptions, tenantsOf } from './balanced-kind.ts'
import { unownedEvents } from './unowned-events.ts'

/** The Gateways of a cluster, in all namespaces. */
export function balancedGateways(options: BalancedKindOptions): BalancedKind<GatewayControllerCounters> {
  const { transport, backends, cluster: id, page, projects, rules, labels, clock, log } = options
  const cluster = new GatewayCluster({
    ...{ transport, backends, clock, log },
    knownGateways: projects.flatMap(({ loadBalancers }) => gatewaysOfCluster(loadBalancers, id)),
  })
  const controllers = new GatewayControllers({
    ...{ cluster, namespaces: labels, rules, tenants: tenantsOf('gateway', options), clock, log },
    tellUnowned: unownedEvents(options.events, GATEWAYS),
    settings: { cluster: id, page },
  })
  return new BalancedKind(options, { api: 'Gateway API', needs: NEEDED_KINDS, cluster, controllers })
}
