import type { KnownDomains, LoadBalancerService, RefusedHost, TlsCertificates } from '@spout/connector'
import type { Clock, Logger } from '@spout/runtime'
import { judgePolicy, policyOfPort } from '../to-model/backend-tls.ts'
import type { GatewaySurroundings } from '../to-model/compile-gateway.ts'
import type { CompiledRoutes } from '../to-model/compiled-routes.ts'
import type { Cluster } from './cluster.ts'

export interface GatewayControllerSettings {
  /** Id of this cluster: tells its load balancers from those of other clusters in the project. Never changes. */
  readonly cluster: string
  /** Names of address pools, in order; empty allows any. */
  readonly defaultPools: readonly string[]
}

export interface GatewayControllerOptions {
  readonly cluster: Cluster
  readonly service: LoadBalancerService
  /** Keeps the certificates of the Secrets that listeners name. Started and stopped by who made it. */
  readonly certificates: Pick<TlsCertificates, 'of' | 'name' | 'complete' | 'onChange'>
  readonly settings: GatewayControllerSettings
  readonly clock: Clock
  readonly log: Logger
}

/** What Gateways and routes are judged with. */
export type Surroundings = Omit<GatewaySurroundings, 'poolOf'>

export const surroundingsOf = ({
  cluster,
  settings,
  certificates,
  domains,
  compiled,
  refusedHosts,
}: GatewayControllerOptions & {
  readonly domains: Pick<KnownDomains, 'all'>
  readonly compiled: CompiledRoutes
  readonly refusedHosts: ReadonlyMap<string, readonly RefusedHost[]>
}): Surroundings => ({
  refusedHosts: (gateway, routeUid) => (refusedHosts.get(gateway) ?? []).filter(({ uid }) => uid === routeUid),
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
