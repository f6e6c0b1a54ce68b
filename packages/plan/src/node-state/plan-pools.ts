import { knownPools, planKnownPool } from './known-pools.ts'
import type { LoadBalancerPlanInput } from './load-balancer-plan.ts'
import type { PlannedPool } from './node-pool.ts'

/** Plans the pools of a load balancer. Null: its network has no pool number left. */
export function planPools(input: LoadBalancerPlanInput): PlannedPool[] | null {
  const { loadBalancer, previous, freePoolNumber, certificateOf, knownPools: kept = knownPools() } = input
  // Pool numbers are unique in a network. After a move to another network, new ones are chosen.
  const known = previous?.networkId === loadBalancer.networkId ? previous.pools : []
  const numbers = new Map(known.map((pool) => [pool.poolId, pool.number]))
  const before = new Map(previous?.pools.map((pool) => [pool.poolId, pool]))
  const nodesHad = new Map(input.entryBefore?.pools.map((pool) => [pool.id, pool.members]))
  const own = new Set(numbers.values())
  const planned: PlannedPool[] = []
  let last = 0
  for (const pool of loadBalancer.pools) {
    let number = numbers.get(pool.id) ?? null
    if (number === null) {
      do number = freePoolNumber(number ?? last)
      while (number !== null && own.has(number))
      if (number === null) return null
      last = number
    }
    const placed = before.get(pool.id) ?? null
    planned.push(planKnownPool(loadBalancer, pool, number, placed, certificateOf, nodesHad.get(pool.id), kept))
  }
  return planned
}
