import {
  FABRIC_OF_GROUP,
  type FeaturedListener,
  type FeaturedPool,
  featuresOfListener,
  featuresOfPool,
  isProxied,
  type LoadBalancer,
  type Network,
  type NodePool,
  type Pool,
  usedPoolIds,
} from '@spout/model'
import { poolMode } from '../resolve/protocols.ts'
import type { LoadBalancerPlanInput } from './load-balancer-plan.ts'
import { poolOptions } from './node-pool.ts'

/**
 * Names of the features that a node must offer for this load balancer, sorted.
 * @param returnPath of its network; null: it has none
 * @param around the settings of its class and its group
 */
export function neededFeatures(
  loadBalancer: Pick<LoadBalancer, 'listeners' | 'pools'>,
  returnPath: Network['returnPath'] | null,
  {
    dedicatedProxy,
    requestSizes,
    namesFabric = false,
  }: Pick<LoadBalancerPlanInput, 'dedicatedProxy' | 'requestSizes' | 'namesFabric'> = {},
): readonly string[] {
  const { listeners, pools } = loadBalancer
  const needs = new Set<string>()
  // Any other node would announce on another interface.
  if (namesFabric) needs.add(FABRIC_OF_GROUP)
  // Every node can forward with address translation. Older ones may not be able to forward without it.
  if (returnPath === 'dsr' && listeners.length > 0) needs.add('dsr')
  // An older node would translate to the members of others too, or refuse the network's segment.
  if (returnPath === 'node' && listeners.length > 0) needs.add('l4.member-nodes')
  for (const listener of listeners) {
    if (!isProxied(listener.protocol)) needs.add(`l4.${listener.protocol}`)
    const around = { listeners, dedicatedProxy, requestSizes }
    for (const feature of featuresOfListener(listenerAsNodesGetIt(listener), around)) needs.add(feature)
  }
  const used = usedPoolIds(listeners)
  for (const pool of pools) {
    if (!used.has(pool.id)) continue
    for (const feature of featuresOfPool(poolAsNodesGetIt(pool, poolMode(loadBalancer, pool)))) needs.add(feature)
  }
  return [...needs].sort()
}

// Certificates do not matter: which features their use needs is the same while one is missing.

function listenerAsNodesGetIt(listener: LoadBalancer['listeners'][number]): FeaturedListener {
  const { protocol, port, routes, tls, latencies, routeFigures, accessLog } = listener
  const asked = tls?.clientCertificates ?? undefined
  const clients = asked && {
    revocations: asked.crlCertificateId ?? undefined,
    acceptInvalid: asked.acceptInvalid || undefined,
  }
  return {
    ...{ protocol, port, routes },
    tls: tls === null ? undefined : { clients, ciphers: tls.ciphers ?? undefined, separateHosts: tls.separateHosts },
    latencies: latencies || undefined,
    routeFigures: routeFigures || undefined,
    accessLog: accessLog ?? undefined,
  }
}

const poolAsNodesGetIt = (pool: Pool, mode: NodePool['mode']): FeaturedPool => ({
  ...poolOptions(pool, mode),
  ...(pool.tls === undefined ? {} : { tls: { ciphers: pool.tls.ciphers, revocations: pool.tls.crlCertificateId } }),
})
