/**
 * Spout's custom kinds in a Kubernetes cluster (group `spout.dev`): their schemas, derived from the model's, and their
 * custom resource definitions. `intents/kubernetes-config` acts on the objects
 * of configuration, `intents/load-balancer` on load balancers.
 */
export * from './address-pool.ts'
export { renamedSettings, settingsOfSpec } from './announcer-settings.ts'
export * from './bgp-advertisement.ts'
export * from './bgp-peer.ts'
export * from './definitions.ts'
export * from './load-balancer.ts'
export type { LoadBalancerPool, MemberSource } from './load-balancer-pool.ts'
export * from './node-group.ts'
export { GROUP_LABEL } from './node-selector.ts'
export * from './observed-load-balancer.ts'
export * from './tenant-quota.ts'
export { FINALIZER, GROUP, VERSION } from './words.ts'
