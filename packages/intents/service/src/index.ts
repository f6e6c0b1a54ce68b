/**
 * The intent for Kubernetes Services of type LoadBalancer. A Service, its EndpointSlices and the nodes become a load
 * balancer (`to-model/`, pure); its state becomes the Service's status (`write-back/`, pure).
 *
 * The controller is a client of an API server (`@spout/kube`) and of the control plane's native API, with a token of
 * one project. It keeps no state of its own: it reads the cluster and the project first. It deletes a load balancer
 * only when its Service is certainly gone.
 */
export type { Cluster, ClusterChange } from './controller/cluster.ts'
export * from './controller/service-controller.ts'
export * from './kubernetes/kube-cluster.ts'
export { FINALIZER } from './names.ts'
export * from './tenancy/service-controllers.ts'
export { externalRanges } from './to-model/external-ips.ts'
export { servicesOfCluster } from './to-model/services-of.ts'
