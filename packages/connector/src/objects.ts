import type { ObjectMeta } from '@spout/kube'

/** Names that we write on objects of the cluster, and fields that all objects have. */

/**
 * Set together with the finalizer. Other load-balancer implementations use the same finalizer, so this tells whose the
 * object is when its type or class has changed.
 */
export const MANAGED_BY = 'spout.dev/managed-by'
/** With several projects: the id of the project that balanced the object first. Written by us. */
export const PROJECT = 'spout.dev/project'
/** Reason of an object that stays in its project although its namespace has moved to another. */
export const NAMESPACE_MOVED = 'NamespaceMoved'

/** Kubernetes' own label: which controller writes an EndpointSlice. */
export const SLICE_MANAGER_LABEL = 'endpointslice.kubernetes.io/managed-by'
/**
 * The manager of an EndpointSlice whose endpoints do not count. Only our trimmed copy in memory has it; it is never
 * written to the cluster.
 */
export const SLICE_LEFT_OUT = 'spout.dev/left-out'
export const EXCLUDE_NODE_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers'
export const AUTOSCALER_TAINT = 'ToBeDeletedByClusterAutoscaler'

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
