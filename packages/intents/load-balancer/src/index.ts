/**
 * The intent for LoadBalancer objects (`spout.dev/v1`) of a Kubernetes cluster. An object is the whole document of a
 * load balancer, and may take members from Services and EndpointSlices (`to-model/`, pure). The result is written to
 * its status (`write-back/`).
 *
 * The controller is a client of an API server (`@spout/kube`) and of the control plane's native API, with a token of
 * one project. It keeps no state of its own: it reads the cluster and the project first.
 */
export type { Cluster, ClusterChange } from './controller/cluster.ts'
export * from './controller/load-balancer-controller.ts'
export * from './kubernetes/kube-cluster.ts'
export { LOAD_BALANCERS } from './load-balancer-object.ts'
export * from './tenancy/load-balancer-controllers.ts'
