/**
 * The intent for configuration. Address pools, node groups, BGP peers, BGP advertisements and quotas are custom
 * resources (`@spout/custom-resources`). This package writes them to the native API with an administrator's token, and
 * the result to their status. It also shows every load balancer of a project as an object, and says which nodes the cluster
 * wants out of use.
 *
 * It keeps no state of its own: it reads the cluster and the control plane first. It never touches objects that people
 * made through the native API, reads no secret, and deletes nothing because an object is missing.
 */

export type { Sessions } from '@spout/client/native-api'
export * from './loop/config-controller.ts'
export * from './loop/kubernetes-configuration.ts'
export * from './loop/load-balancer-objects.ts'
export type { NodePolicy } from './nodes/node-wish.ts'
