import type { Placement } from '@spout/model'

interface InShard {
  number: number
  loadBalancers: number
}

interface Load {
  networks: number
  loadBalancers: number
}

/** Which shard each network is in, and how much each shard carries. Fed with placements. */
export class ShardIndex {
  /** network id -> group id, in the order in which they came */
  readonly #byNetwork = new Map<string, Map<string, InShard>>()
  /** group id -> shard number */
  readonly #loads = new Map<string, Map<number, Load>>()

  of(networkId: string, groupId: string): number | null {
    return this.#byNetwork.get(networkId)?.get(groupId)?.number ?? null
  }

  first(networkId: string): { readonly groupId: string; readonly number: number } | null {
    for (const [groupId, { number }] of this.#byNetwork.get(networkId) ?? []) return { groupId, number }
    return null
  }

  freest(groupId: string, shards: number): number {
    const loads = this.#loads.get(groupId)
    let best = 1
    for (let number = 2; number <= shards; number++)
      if (isLess(loads?.get(number) ?? NO_LOAD, loads?.get(best) ?? NO_LOAD)) best = number
    return best
  }

  /** Counts `after` in place of `before`. An unchanged shard keeps its place in the order. */
  replace(before: Placement | null, after: Placement | null): void {
    if (before !== null && after !== null && samePlace(before, after)) return
    if (after !== null) this.#add(after)
    if (before !== null) this.#take(before)
  }

  #add({ networkId, shard }: Placement): void {
    if (networkId === null || shard === null) return
    const { nodeGroupId, number } = shard
    this.#load(nodeGroupId, number).loadBalancers++
    const groups = this.#byNetwork.get(networkId) ?? new Map<string, InShard>()
    this.#byNetwork.set(networkId, groups)
    const known = groups.get(nodeGroupId)
    if (known === undefined) groups.set(nodeGroupId, { number, loadBalancers: 1 })
    else known.loadBalancers++
    if (known?.number === number) return
    // The newest placement decides: the network's other load balancers follow.
    if (known !== undefined) {
      this.#load(nodeGroupId, known.number).networks--
      known.number = number
    }
    this.#load(nodeGroupId, number).networks++
  }

  #take({ networkId, shard }: Placement): void {
    if (networkId === null || shard === null) return
    const { nodeGroupId, number } = shard
    this.#load(nodeGroupId, number).loadBalancers--
    const groups = this.#byNetwork.get(networkId)
    const known = groups?.get(nodeGroupId)
    if (groups === undefined || known === undefined || --known.loadBalancers > 0) return
    this.#load(nodeGroupId, known.number).networks--
    groups.delete(nodeGroupId)
    if (groups.size === 0) this.#byNetwork.delete(networkId)
  }

  #load(groupId: string, number: number): Load {
    const loads = this.#loads.get(groupId) ?? new Map<number, Load>()
    this.#loads.set(groupId, loads)
    const load = loads.get(number) ?? { networks: 0, loadBalancers: 0 }
    loads.set(number, load)
    return load
  }
}

const NO_LOAD: Load = { networks: 0, loadBalancers: 0 }

const isLess = (a: Load, b: Load): boolean =>
  a.networks < b.networks || (a.networks === b.networks && a.loadBalancers < b.loadBalancers)

const samePlace = (a: Placement, b: Placement): boolean =>
  a.networkId === b.networkId && a.shard?.nodeGroupId === b.shard?.nodeGroupId && a.shard?.number === b.shard?.number
