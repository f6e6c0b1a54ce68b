import { NativeDocuments } from '@spout/connector'
import {
  KubeCluster,
  LOAD_BALANCERS,
  type LoadBalancerControllerCounters,
  LoadBalancerControllers,
} from '@spout/intent-load-balancer'
import { eventsOfKind } from '@spout/kube'
import { BalancedKind, type BalancedKindOptions, onlyNamespace, tenantsOf } from './balanced-kind.ts'
import { unownedEvents } from './unowned-events.ts'

/** The LoadBalancer objects of a cluster. */
export function balancedLoadBalancers(options: BalancedKindOptions): BalancedKind<LoadBalancerControllerCounters> {
  const { transport, events, slices, backends, cluster: id, namespaces, page, rules, labels, clock, log } = options
  const cluster = new KubeCluster({
    ...{ transport, namespace: onlyNamespace(namespaces), slices, backends, clock, log },
    tell: eventsOfKind(events, LOAD_BALANCERS),
  })
  const tenants = tenantsOf('load-balancer', options).map((tenant) => ({
    ...tenant,
    documents: new NativeDocuments(tenant.configured.sessions),
  }))
  const controllers = new LoadBalancerControllers({
    ...{ cluster, namespaces: labels, rules, tenants, clock, log, settings: { cluster: id, namespaces, page } },
    tellUnowned: unownedEvents(events, LOAD_BALANCERS),
  })
  return new BalancedKind(options, { api: LOAD_BALANCERS.kind, needs: [LOAD_BALANCERS], cluster, controllers })
}
