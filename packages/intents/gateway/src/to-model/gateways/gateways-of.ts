import { CLUSTER_ANNOTATION, ownersOf, type ShownLoadBalancer } from '@spout/connector'

/** `namespace/name` of every Gateway of this cluster that has a load balancer. */
export const gatewaysOfCluster = (all: readonly ShownLoadBalancer[], cluster: string): readonly string[] => [
  ...new Set(
    all.flatMap(({ document }) =>
      document.annotations[CLUSTER_ANNOTATION] === cluster ? [...ownersOf(document, 'gateway').values()] : [],
    ),
  ),
]
