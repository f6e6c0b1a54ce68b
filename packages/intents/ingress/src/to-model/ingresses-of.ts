import { CLUSTER_ANNOTATION, ownersOf, type ShownLoadBalancer } from '@spout/connector'

/** The Ingresses of a cluster that have load balancers, as `namespace/name`. */
export const ingressesOfCluster = (all: readonly ShownLoadBalancer[], cluster: string): readonly string[] =>
  all
    .filter(({ document }) => document.annotations[CLUSTER_ANNOTATION] === cluster)
    .flatMap(({ document }) => [...ownersOf(document, 'ingress').values()])
