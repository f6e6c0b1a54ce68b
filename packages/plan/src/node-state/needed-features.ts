import {
  accessLogFeature,
  type FeaturedPool,
  featuresOfPool,
  featuresOfRoutes,
  isBehind,
  isProxied,
  type LoadBalancer,
  type Network,
  type NodePool,
  type Pool,
  readsRequests,
  usedPoolIds,
} from '@spout/model'
import { poolMode } from '../resolve/protocols.ts'
import type { LoadBalancerPlanInput } from './load-balancer-plan.ts'
import { poolOptions } from './node-pool.ts'

/**
 * Names of the features that drivers must offer for this load balancer, sorted.
 * @param returnPath of its network; null: it has none
 * @param ofClass the settings of its class
 */
export function neededFeatures(
  loadBalancer: Pick<LoadBalancer, 'listeners' | 'pools'>,
  returnPath: Network['returnPath'] | null,
  { dedicatedProxy, requestSizes }: Pick<LoadBalancerPlanInput, 'dedicatedProxy' | 'requestSizes'> = {},
): readonly string[] {
  const needs = new Set<string>()
  if (requestSizes !== undefined && loadBalancer.listeners.some(({ protocol }) => readsRequests(protocol)))
    needs.add('l7.request-sizes')
  if (dedicatedProxy !== undefined && loadBalancer.listeners.some(({ protocol }) => isProxied(protocol)))
    needs.add('l7.dedicated-proxy')
  // Every node can forward with address translation. Older ones may not be able to forward without it.
  if (returnPath === 'dsr' && loadBalancer.listeners.length > 0) needs.add('dsr')
  for (const listener of loadBalancer.listeners) {
    const { protocol, routes, tls, latencies, routeFigures, accessLog } = listener
    if (isBehind(listener, loadBalancer.listeners)) needs.add('l7.tls-shared-ports')
    needs.add(isProxied(protocol) ? `l7.${protocol}` : `l4.${protocol}`)
    if (tls !== null && tls.clientCertificates !== null) needs.add('l7.client-certificates')
    if ((tls?.clientCertificates?.crlCertificateId ?? null) !== null) needs.add('l7.client-certificates.crl')
    if (tls?.clientCertificates?.acceptInvalid) needs.add('l7.client-certificates.invalid')
    if (tls !== null && tls.ciphers !== null) needs.add('l7.tls-ciphers')
    if (tls?.separateHosts !== undefined) needs.add('l7.separate-hosts')
    for (const feature of featuresOfRoutes(routes)) needs.add(feature)
    if (latencies) needs.add('l7.latencies')
    if (routeFigures) needs.add('l7.latencies.routes')
    if (accessLog) needs.add(accessLogFeature(accessLog.syslog))
  }
  const used = usedPoolIds(loadBalancer.listeners)
  for (const pool of loadBalancer.pools) {
    if (!used.has(pool.id)) continue
    for (const feature of featuresOfPool(asNodesGetIt(pool, poolMode(loadBalancer, pool)))) needs.add(feature)
  }
  return [...needs].sort()
}

/** Certificates do not matter: which features their use needs is the same while one is missing. */
const asNodesGetIt = (pool: Pool, mode: NodePool['mode']): FeaturedPool => ({
  ...poolOptions(pool, mode),
  ...(pool.tls === undefined ? {} : { tls: { ciphers: pool.tls.ciphers, revocations: pool.tls.crlCertificateId } }),
})
