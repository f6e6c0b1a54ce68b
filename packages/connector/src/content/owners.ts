import type { LoadBalancer } from '@spout/model'

/** Annotation of a load balancer: the cluster of its objects. */
export const CLUSTER_ANNOTATION = 'kubernetes.cluster'

/**
 * The kind of the objects that have load balancers, as annotations name it. The Ingresses of one namespace and class
 * have one together, so their group counts as the object.
 */
export type OwnerKind = 'service' | 'ingress' | 'gateway' | 'load-balancer'

/** Annotation that names one object of the load balancer by its UID; the value is its `namespace/name`. */
export const ownerAnnotation = (kind: OwnerKind, uid: string): string => `kubernetes.${kind}.${uid}`

/** The objects of a load balancer: `namespace/name` by UID. */
export function ownersOf(
  { annotations }: Pick<LoadBalancer, 'annotations'>,
  kind: OwnerKind,
): ReadonlyMap<string, string> {
  const prefix = ownerAnnotation(kind, '')
  return new Map(
    Object.entries(annotations)
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, key]) => [name.slice(prefix.length), key]),
  )
}
