import type { ObjectMeta } from '@spout/kube'

/** Names that we write on objects of the cluster, and access to fields that all objects have. */

/**
 * Annotation, set together with the finalizer. Other load-balancer implementations use the same finalizer for Services,
 * so this tells who balances the object when its type or class has changed.
 */
export const MANAGED_BY = 'spout.dev/managed-by'
/** Annotation, set when there are several projects: the id of the project that balanced the object first. */
export const PROJECT = 'spout.dev/project'
/** The reason when an object stays in its project although its namespace has moved to another project. */
export const NAMESPACE_MOVED = 'NamespaceMoved'

/** Kubernetes' own label of EndpointSlices: the controller that writes the slice. */
export const SLICE_MANAGER_LABEL = 'endpointslice.kubernetes.io/managed-by'
/**
 * Annotation with the manager of an EndpointSlice whose endpoints do not count. Only our trimmed copy in memory has it;
 * it is never written to the cluster.
 */
export const SLICE_LEFT_OUT = 'spout.dev/left-out'

interface Named {
  readonly metadata: ObjectMeta
}

/** An object whose status shows its assigned addresses, such as a Service or an Ingress. */
export interface AddressedObject extends Named {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } }
}

/** `namespace/name`. */
export const keyOf = ({ metadata }: Named): string => `${metadata.namespace ?? ''}/${metadata.name}`
export const uidOf = ({ metadata }: Named): string => metadata.uid ?? ''
/** The addresses in its status, whoever wrote them. */
export const shownAddresses = ({ status }: AddressedObject): readonly string[] =>
  (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? [])
