import type { LoadBalancer } from '@spout/model'

/** Annotation of a load balancer: the id of the cluster that its objects are in. */
export const CLUSTER_ANNOTATION = 'kubernetes.cluster'

/**
 * The kind of an object that has a load balancer, as annotations name it. The Ingresses of one namespace and class
 * share one, so their group counts as one object.
 */
export type OwnerKind = 'service' | 'ingress' | 'gateway' | 'load-balancer'

/** The annotation of a load balancer that names one of its objects by UID. The value is `namespace/name`. */
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
