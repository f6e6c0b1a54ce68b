/**
 * The intent for Kubernetes Ingresses. The Ingresses of one namespace and class become a load balancer (`to-model/`,
 * pure); its addresses become their status.
 *
 * The controller is a client of an API server (`@spout/kube`) and of the control plane's native API, with a token of
 * one project. It stores nothing: it reads both cluster and project first, and deletes only for objects that are
 * certainly gone.
 */
export type { Cluster, ClusterChange } from './controller/cluster.ts'
export type { IngressControllerOptions, IngressControllerSettings } from './controller/context.ts'
export * from './controller/ingress-controller.ts'
export * from './kubernetes/kube-cluster.ts'
export { CONTROLLER_NAME } from './names.ts'
export * from './tenancy/ingress-controllers.ts'
export { ingressesOfCluster } from './to-model/ingresses-of.ts'
