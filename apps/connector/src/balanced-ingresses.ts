import {
  type IngressControllerCounters,
  IngressControllers,
  ingressesOfCluster,
  KubeCluster,
} from '@spout/intent-ingress'
import { eventsOfKind, INGRESS_CLASSES, INGRESSES } from '@spout/kube'
import { BalancedKind, type BalancedKindOptions, onlyNamespace, tenantsOf } from './balanced-kind.ts'
import { unownedEvents } from './unowned-events.ts'

/** The Ingresses of a cluster. */
export function balancedIngresses(options: BalancedKindOptions): BalancedKind<IngressControllerCounters> {
  const {
    transport,
    events,
    slices,
    backends,
    cluster: id,
    namespaces,
    page,
    projects,
    rules,
    labels,
    clock,
    log,
  } = options
  const cluster = new KubeCluster({
    ...{ transport, clock, log, namespace: onlyNamespace(namespaces), slices, backends },
    knownIngresses: projects.flatMap(({ loadBalancers }) => ingressesOfCluster(loadBalancers, id)),
    tell: eventsOfKind(events, INGRESSES),
  })
  const controllers = new IngressControllers({
    ...{ cluster, namespaces: labels, rules, tenants: tenantsOf('ingress', options), clock, log },
    tellUnowned: unownedEvents(events, INGRESSES),
    settings: { cluster: id, namespaces, page },
  })
  return new BalancedKind(options, { api: INGRESSES.kind, needs: [INGRESS_CLASSES, INGRESSES], cluster, controllers })
}
