/**
 * LoadBalancer objects of a Kubernetes cluster (`spout.dev/v1`) as an intent: each is the whole document of a load
 * balancer, and may take members from Services and EndpointSlices (`to-model/`, pure). What became of it is its status
 * (`write-back/`).
 *
 * The controller is a client of an API server (`@spout/kube`) and of the control plane's native API, with a token of
 * one project. It stores nothing: it reads both sides first.
 */
export type { Cluster, ClusterChange } from './controller/cluster.ts'
export * from './controller/load-balancer-controller.ts'
export * from './kubernetes/kube-cluster.ts'
export { LOAD_BALANCERS } from './load-balancer-object.ts'
export * from './tenancy/load-balancer-controllers.ts'
