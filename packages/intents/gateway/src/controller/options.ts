import type { IntentOptions, IntentSettings, KnownDomains, RefusedHost } from '@spout/connector'
import { judgePolicy, policyOfPort } from '../to-model/backend-tls.ts'
import type { GatewaySurroundings } from '../to-model/compile-gateway.ts'
import type { CompiledRoutes } from '../to-model/compiled-routes.ts'
import type { TooMuch } from './bring-gateway.ts'
import type { Cluster } from './cluster.ts'

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
}: GatewayControllerOptions & {
  readonly domains: Pick<KnownDomains, 'all'>
  readonly compiled: CompiledRoutes
  readonly refusedHosts: ReadonlyMap<string, readonly RefusedHost[]>
  readonly tooMuch: ReadonlyMap<string, TooMuch>
}): Surroundings => ({
  refusedHosts: (gateway, routeUid) => (refusedHosts.get(gateway) ?? []).filter(({ uid }) => uid === routeUid),
  tooMuch: (gateway, routeUid) => {
    const found = tooMuch.get(gateway)
    return found?.uids.has(routeUid) ? found.message : null
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
