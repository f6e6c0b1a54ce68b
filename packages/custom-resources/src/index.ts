/**
 * Spout's own kinds in a Kubernetes cluster (group `spout.dev`): each kind's schema, made from the model's, and its custom
 * resource definition. What becomes of an object is for `intents/kubernetes-config`.
 */
export * from './address-pool.ts'
export * from './bgp-advertisement.ts'
export * from './bgp-peer.ts'
export * from './definitions.ts'
export * from './load-balancer.ts'
export * from './node-group.ts'
export * from './tenant-quota.ts'
export { FINALIZER, GROUP, VERSION } from './words.ts'
