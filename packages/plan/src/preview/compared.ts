import type { LoadBalancer, Network } from '@spout/model'
import type { LoadBalancerEntry, NodeMember } from '@spout/model/node-state'
import type { LoadBalancerPlan } from '../node-state/load-balancer-plan.ts'

/** A load balancer with what is planned for it, before or after a change. */
export interface Planned {
  readonly loadBalancer: LoadBalancer
  readonly plan: LoadBalancerPlan
  /** Null while it has no network. */
  readonly returnPath: Network['returnPath'] | null
}

/** Its entry on any node: services and pools are the same on all. Null while no node carries it. */
export const entryOf = ({ plan }: Planned): LoadBalancerEntry | null => plan.entries.values().next().value ?? null

/** A listener or pool for people: its name afterwards, or the one that it had. */
export function shownPart(
  sides: readonly (Planned | null)[],
  part: 'listeners' | 'pools',
  id: string,
): { readonly id: string; readonly name: string } {
  const names = sides.flatMap((side) => side?.loadBalancer[part].find((known) => known.id === id)?.name ?? [])
  return { id, name: names.at(-1) ?? '' }
}

/** Lists of members in a preview are cut off here. */
export const MOST_SHOWN = 100

/** A member for people. */
export const shownMember = (
  { id, address, port }: Pick<NodeMember, 'id' | 'address' | 'port'>,
  names: ReadonlyMap<string, string>,
) => ({ name: names.get(id) ?? '', address, port })

/** The names of these members of a pool, by id. There may be thousands of others. */
export function memberNames(
  loadBalancers: readonly LoadBalancer[],
  poolId: string,
  wanted: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const { pools } of loadBalancers)
    for (const { id, name } of pools.find((pool) => pool.id === poolId)?.members ?? [])
      if (wanted.has(id)) names.set(id, name)
  return names
}
