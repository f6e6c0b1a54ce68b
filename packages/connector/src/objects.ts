import type { ObjectMeta } from '@spout/kube'

/** What we write on objects of the cluster, and read of all of them. */

/**
 * Set together with the finalizer. Other implementations of load balancers use the same finalizer, so this says whose the
 * object is where nothing else does any more (its type or class was changed away).
 */
export const MANAGED_BY = 'spout.dev/managed-by'
/** Where namespaces are of several projects: the id of the one that the object was balanced by first. Written by us. */
export const PROJECT = 'spout.dev/project'
/** The reason of an object that stays with the project that its namespace was of. */
export const NAMESPACE_MOVED = 'NamespaceMoved'

/** Kubernetes' own label: which controller writes an EndpointSlice. */
export const SLICE_MANAGER_LABEL = 'endpointslice.kubernetes.io/managed-by'
/** On what is kept of an EndpointSlice whose endpoints do not count: whose it is. Never written to the cluster. */
export const SLICE_LEFT_OUT = 'spout.dev/left-out'
export const EXCLUDE_NODE_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers'
export const AUTOSCALER_TAINT = 'ToBeDeletedByClusterAutoscaler'

interface Named {
  readonly metadata: ObjectMeta
}

/** An object whose status shows the addresses that it was given, as a Service and an Ingress do. */
export interface AddressedObject extends Named {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } }
}

/** `namespace/name`. */
export const keyOf = ({ metadata }: Named): string => `${metadata.namespace ?? ''}/${metadata.name}`
export const uidOf = ({ metadata }: Named): string => metadata.uid ?? ''
/** What its status says, whoever wrote it. */
export const shownAddresses = ({ status }: AddressedObject): readonly string[] =>
  (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? [])
