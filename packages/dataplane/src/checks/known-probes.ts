import { hasManyPools, type LoadBalancerEntry, type NodePool } from '@spout/model/node-state'
import { probesOf, probesOfPool, type WantedProbe } from './probe-plan.ts'

type Place = Pick<LoadBalancerEntry, 'id' | 'domain'>

/**
 * Makes probes as `probesOf` does. Of an entry with many pools it keeps those of each: a pool that did not change is the
 * same object in the next version, and so are its probes.
 */
export class KnownProbes {
  readonly #known = new WeakMap<
    NodePool,
    Place & { readonly projectId: string | null; readonly probes: readonly WantedProbe[] }
  >()

  of(entry: LoadBalancerEntry, projectId: string | null): readonly WantedProbe[] {
    if (!hasManyPools(entry)) return probesOf(entry, projectId)
    return entry.pools.flatMap((pool) => this.#ofPool(entry, projectId, pool))
  }

  #ofPool({ id, domain }: Place, projectId: string | null, pool: NodePool): readonly WantedProbe[] {
    const known = this.#known.get(pool)
    if (known?.id === id && known.domain === domain && known.projectId === projectId) return known.probes
    const probes = probesOfPool({ id, domain }, projectId, pool)
    this.#known.set(pool, { id, domain, projectId, probes })
    return probes
  }
}
