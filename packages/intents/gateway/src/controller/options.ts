import {
  CLASS_ANNOTATION,
  type IntentOptions,
  type IntentSettings,
  type KnownDomains,
  type KnownLoadBalancers,
  type RefusedHost,
  uidOf,
} from '@spout/connector'
import { judgePolicy, policyOfPort } from '../to-model/backends/backend-tls.ts'
import { loadBalancerClassOf } from '../to-model/gateways/class-parameters.ts'
import type { GatewaySurroundings } from '../to-model/gateways/compile-gateway.ts'
import type { CompiledRoutes } from '../to-model/gateways/compiled-routes.ts'
import type { TooMuch } from './bring-gateway.ts'
import type { Cluster } from './cluster.ts'
import { isOurClass } from './ownership.ts'

/** Gateways of all namespaces are served: their routes may be in any. */
export type GatewayControllerSettings = Omit<IntentSettings, 'namespaces'>
export type GatewayControllerOptions = IntentOptions<Cluster, GatewayControllerSettings>

/** The facts by which Gateways and routes are judged. */
export type Surroundings = Omit<GatewaySurroundings, 'poolOf'>

export const surroundingsOf = ({
  cluster,
  settings,
  certificates,
  domains,
  compiled,
  refusedHosts,
  tooMuch,
  known,
}: GatewayControllerOptions & {
  readonly domains: Pick<KnownDomains, 'all'>
  readonly compiled: CompiledRoutes
  readonly refusedHosts: ReadonlyMap<string, readonly RefusedHost[]>
  readonly tooMuch: ReadonlyMap<string, TooMuch>
  readonly known: Pick<KnownLoadBalancers, 'ofUid'>
}): Surroundings => ({
  refusedHosts: (gateway, routeUid) => (refusedHosts.get(gateway) ?? []).filter(({ uid }) => uid === routeUid),
  tooMuch: (gateway, routeUid) => {
    const found = tooMuch.get(gateway)
    return found?.uids.has(routeUid) ? found.message : null
  },
  loadBalancerClassOf: (gateway) => {
    const ofGateway = cluster.gatewayClass(gateway.spec.gatewayClassName)
    const named = ofGateway && isOurClass(ofGateway) ? loadBalancerClassOf(ofGateway) : null
    if (named !== null && 'value' in named) return named.value
    // When the class is gone or no longer valid, the load balancer stays of the class that it was made with.
    const [held] = known.ofUid(uidOf(gateway))
    return held?.document.annotations[CLASS_ANNOTATION] ?? null
  },
  compile: compiled.compile,
  certificateOf: (secret) => certificates.of(secret),
  cluster: settings.cluster,
  domains: domains.all,
  service: (key) => cluster.service(key),
  grants: cluster.grants(),
  labelsOf: (namespace) => cluster.labelsOf(namespace),
  listenerSet: (key) => cluster.listenerSet(key),
  listenerSetsOf: (gateway) => cluster.listenerSetsOf(gateway),
  tlsOf: (service, portName) => {
    const policies = cluster.policiesOf(service)
    const policy = policyOfPort(policies, service, portName)
    return policy === null ? undefined : judgePolicy(policy, policies, (key) => certificates.of(key)).tls
  },
})
