import { type LoadBalancer, type NodePool, type Pool, sameJson } from '@spout/model'
import { poolMode } from '../resolve/protocols.ts'
import { type PlacedPool, type PlannedPool, planPool } from './node-pool.ts'
import { type CertificateOf, planPoolTls } from './node-tls.ts'

interface KnownPool extends PlannedPool {
  readonly mode: NodePool['mode']
  readonly tls: ReturnType<typeof planPoolTls>
}

/**
 * A cache of planned pools. A load balancer may have hundreds, and most changes leave all but one of them the same
 * objects.
 */
export type KnownPools = WeakMap<Pool, KnownPool>

export const knownPools = (): KnownPools => new WeakMap()

/**
 * As `planPool`, but returns the earlier plan if it would be the same.
 * @param known to which the plan is added. The plan does not depend on it
 */
export function planKnownPool(
  loadBalancer: Pick<LoadBalancer, 'listeners'>,
  pool: Pool,
  number: number,
  previous: PlacedPool | null,
  certificateOf: CertificateOf,
  nodesHad: NodePool['members'] | undefined,
  known: KnownPools,
): PlannedPool {
  const mode = poolMode(loadBalancer, pool)
  const tls = planPoolTls(pool, mode, certificateOf)
  const had = known.get(pool)
  // Planned on top of its own placement, a pool gets the same placement again.
  const isSame = had?.placed === previous && previous?.number === number && had.mode === mode && sameJson(had.tls, tls)
  if (isSame) return had
  const planned = { ...planPool(loadBalancer, pool, number, previous, certificateOf, nodesHad), mode, tls }
  known.set(pool, planned)
  return planned
}
