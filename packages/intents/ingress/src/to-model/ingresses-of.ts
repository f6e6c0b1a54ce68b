import { CLUSTER_ANNOTATION, ownersOf, type ShownLoadBalancer } from '@spout/connector'

/** `namespace/name` of every Ingress of a cluster that has a load balancer. */
export const ingressesOfCluster = (all: readonly ShownLoadBalancer[], cluster: string): readonly string[] =>
  all
    .filter(({ document }) => document.annotations[CLUSTER_ANNOTATION] === cluster)
    .flatMap(({ document }) => [...ownersOf(document, 'ingress').values()])
