/**
 * Configuration as Kubernetes objects: address pools, node groups, BGP peers and advertisements, and quotas are written as
 * custom resources and brought to the native API with an administrator's token; what became of them is written back, and
 * every load balancer of a project is shown as an object. The kinds are
 * in `@spout/custom-resources`.
 *
 * It keeps no truth: both sides are read first. It never touches what people made through the native API, reads no
 * secret, and deletes nothing because it is missing.
 */

export type { Sessions } from '@spout/client/native-api'
export * from './loop/config-controller.ts'
export * from './loop/kubernetes-configuration.ts'
export * from './loop/load-balancer-objects.ts'
