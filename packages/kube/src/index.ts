/**
 * A client of the Kubernetes API: access, copies of objects in memory (reflectors), and writes (apply, create, delete,
 * leases, events). It knows nothing of load balancers and has no state of its own. It never treats a missing object as
 * deleted unless the deletion is certain.
 */

export * from './access/cluster-access.ts'
export * from './access/in-cluster.ts'
export * from './access/kubeconfig.ts'
export type { CelRule, CelRules } from './crd/cel-rules.ts'
export * from './crd/custom-resource-definition.ts'
export { NotStructural } from './crd/structural-schema.ts'
export * from './custom-objects/custom-object.ts'
export * from './custom-objects/custom-objects.ts'
export { isSameStatus, statusOf } from './custom-objects/status.ts'
export * from './events/event-recorder.ts'
export * from './events/object-event.ts'
export * from './lease/leader-elector.ts'
export * from './lease/micro-time.ts'
export { clusterUid } from './reflector/cluster-guard.ts'
export * from './reflector/deletion-guard.ts'
export * from './reflector/indexes.ts'
export type { Selection } from './reflector/list-pages.ts'
export * from './reflector/reflector.ts'
export type * from './reflector/reflector-options.ts'
export * from './reflector/resource-version.ts'
export { share } from './reflector/share.ts'
export * from './tokens/token-review.ts'
export * from './transport/errors.ts'
export * from './transport/transport.ts'
export * from './types/index.ts'
export * from './write/kube-client.ts'
export { UnseenWrites } from './write/unseen-writes.ts'
