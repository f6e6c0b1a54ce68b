/**
 * Kubernetes Services of type LoadBalancer as a way in: what a Service, its EndpointSlices and the nodes say becomes a load
 * balancer (`to-model/`, pure), and what became of that becomes the Service's status (`write-back/`, pure).
 *
 * The controller speaks to an API server through `@spout/kube` and to the control plane through the native API, with a token
 * of one project. It holds no truth: both sides are read first, and nothing is deleted that was not plainly said to be gone.
 */
export type { Cluster, ClusterChange } from './controller/cluster.ts'
export * from './controller/service-controller.ts'
export * from './kubernetes/kube-cluster.ts'
export { FINALIZER } from './names.ts'
export * from './tenancy/tenant-controllers.ts'
export { externalRanges } from './to-model/external-ips.ts'
export { servicesOfCluster } from './to-model/services-of.ts'
