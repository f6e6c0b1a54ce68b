import type { LoadBalancer } from '@spout/model'

/** Annotation of a load balancer: the cluster whose objects it is for. */
export const CLUSTER_ANNOTATION = 'kubernetes.cluster'

/** What kind of object load balancers are for, as it stands in their annotations. */
export type OwnerKind = 'service'

/** Annotation that says of one object, by its UID, that the load balancer is for it; the value is its `namespace/name`. */
export const ownerAnnotation = (kind: OwnerKind, uid: string): string => `kubernetes.${kind}.${uid}`

/** The objects that a load balancer is for: `namespace/name` by UID. */
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
