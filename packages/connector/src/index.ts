/**
 * What every intent needs that turns objects of a Kubernetes cluster into load balancers: the control plane through the
 * native API (`control-plane/`), what a load balancer is to say (`load-balancer/`) and which addresses it gets
 * (`addresses/`), endpoints and nodes as members (`endpoints/`), the cluster kept in memory (`cluster/`), whose an object is
 * (`tenancy/`), what is taken down after it (`take-down/`) and what is known of it (`status/`).
 *
 * It knows no kind of object that is balanced: what a Service says, and how its status is written, is its intent's.
 */
export * from './addresses/address-choice.ts'
export * from './addresses/address-wish.ts'
export * from './addresses/grants.ts'
export * from './addresses/ids.ts'
export * from './addresses/reach.ts'
export * from './addresses/restoration.ts'
export * from './cluster/kind-reflector.ts'
export * from './cluster/namespace-reflector.ts'
export * from './cluster/trim.ts'
export * from './control-plane/calls-together.ts'
export * from './control-plane/known-load-balancers.ts'
export * from './control-plane/known-networks.ts'
export * from './control-plane/known-pools.ts'
export * from './control-plane/load-balancer-service.ts'
export * from './control-plane/native-load-balancers.ts'
export * from './control-plane/no-load-balancers.ts'
export * from './endpoints/endpoints.ts'
export * from './endpoints/nodes.ts'
export * from './endpoints/pod-network.ts'
export * from './endpoints/pod-routes.ts'
export * from './endpoints/slice-managers.ts'
export * from './load-balancer/content.ts'
export * from './load-balancer/content-difference.ts'
export * from './load-balancer/left-out.ts'
export * from './load-balancer/owners.ts'
export * from './objects.ts'
export * from './refusal.ts'
export * from './status/pending-reasons.ts'
export * from './status/progress.ts'
export * from './take-down/absence.ts'
export * from './take-down/withdrawal.ts'
export * from './tenancy/assignment.ts'
export * from './tenancy/namespace-labels.ts'
export * from './tenancy/project-rules.ts'
