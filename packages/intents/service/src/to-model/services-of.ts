import { CLUSTER_ANNOTATION, ownersOf, type ShownLoadBalancer } from '@spout/connector'
import type { LoadBalancer } from '@spout/model'

/** The Services of a document: `namespace/name` by UID. */
export const servicesOf = (document: Pick<LoadBalancer, 'annotations'>): ReadonlyMap<string, string> =>
  ownersOf(document, 'service')

/** `namespace/name` of every Service of this cluster that has a load balancer. */
export const servicesOfCluster = (all: readonly ShownLoadBalancer[], cluster: string): readonly string[] => [
  ...new Set(
    all.flatMap(({ document }) =>
      document.annotations[CLUSTER_ANNOTATION] === cluster ? [...servicesOf(document).values()] : [],
    ),
  ),
]
