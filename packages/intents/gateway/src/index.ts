/**
 * The intent for Gateway API. `to-model/` turns a Gateway with its routes, their Services and EndpointSlices into a
 * load balancer. `write-back/` turns the state of that load balancer into the statuses of classes, Gateways,
 * ListenerSets and routes. Both are pure.
 *
 * The controller is a client of an API server and of the control plane's native API. It stores nothing.
 */

export * from './controller/gateway-controller.ts'
export type { GatewayControllerOptions, GatewayControllerSettings } from './controller/options.ts'
export * from './kubernetes/gateway-cluster.ts'
export { CONTROLLER_NAME } from './objects/names.ts'
export { GATEWAYS, NEEDED_KINDS } from './objects/resources.ts'
export * from './tenancy/gateway-controllers.ts'
export { gatewaysOfCluster } from './to-model/gateways/gateways-of.ts'
