/**
 * Kubernetes Services of type LoadBalancer as a way in: what a Service, its EndpointSlices and the nodes say becomes a load
 * balancer (`to-model/`, pure), and what became of that becomes the Service's status (`write-back/`, pure).
 *
 * The controller speaks to an API server through `@spout/kube` and to the control plane through the native API, with a token
 * of one project. It holds no truth: both sides are read first, and nothing is deleted that was not plainly said to be gone.
 */
export type { Cluster, ClusterChange } from './controller/cluster.ts'
export { Stale } from './controller/cluster.ts'
export { servicesOfCluster } from './controller/known-load-balancers.ts'
export * from './controller/service-controller.ts'
export type { KindReflector } from './kubernetes/kind-reflector.ts'
export * from './kubernetes/kube-cluster.ts'
export { NamespaceReflector } from './kubernetes/namespace-reflector.ts'
export { FINALIZER, MANAGED_BY } from './names.ts'
export * from './spout/load-balancer-service.ts'
export * from './spout/native-load-balancers.ts'
export { labelsOfRules, type ProjectRule } from './tenancy/project-rules.ts'
export * from './tenancy/tenant-controllers.ts'
export { externalRanges } from './to-model/external-ips.ts'
export type { PodWay } from './to-model/pod-routes.ts'
