import type { Placement } from '@spout/model'

interface InShard {
  number: number
  /** RFC 3339: the earliest of the placements' times. */
  since: string
  loadBalancers: number
}

interface Load {
  networks: number
  loadBalancers: number
}

/** An index of placements: which shard each network is in, and how much each shard carries. */
export class ShardIndex {
  /** network id -> group id */
  readonly #byNetwork = new Map<string, Map<string, InShard>>()
  /** group id -> shard number */
  readonly #loads = new Map<string, Map<number, Load>>()

  of(networkId: string, groupId: string): number | null {
    return this.#byNetwork.get(networkId)?.get(groupId)?.number ?? null
  }

  since(networkId: string, groupId: string): string | null {
    return this.#byNetwork.get(networkId)?.get(groupId)?.since ?? null
  }

  first(networkId: string): { readonly groupId: string; readonly number: number } | null {
    let first: { readonly groupId: string; readonly number: number; readonly since: string } | null = null
    for (const [groupId, { number, since }] of this.#byNetwork.get(networkId) ?? [])
      if (first === null || since < first.since || (since === first.since && groupId < first.groupId))
        first = { groupId, number, since }
    return first && { groupId: first.groupId, number: first.number }
  }

  freest(groupId: string, shards: number): number {
    const loads = this.#loads.get(groupId)
    let best = 1
    for (let number = 2; number <= shards; number++)
      if (isLess(loads?.get(number) ?? NO_LOAD, loads?.get(best) ?? NO_LOAD)) best = number
    return best
  }

  /** Counts `after` in place of `before`. An unchanged shard changes nothing. */
  replace(before: Placement | null, after: Placement | null): void {
    if (before !== null && after !== null && samePlace(before, after)) return
    if (after !== null) this.#add(after)
    if (before !== null) this.#take(before)
  }

  #add({ networkId, shard, createdAt }: Placement): void {
    if (networkId === null || shard === null) return
    const { nodeGroupId, number, since = createdAt } = shard
    this.#load(nodeGroupId, number).loadBalancers++
    const groups = this.#byNetwork.get(networkId) ?? new Map<string, InShard>()
    this.#byNetwork.set(networkId, groups)
    const known = groups.get(nodeGroupId)
    if (known === undefined) groups.set(nodeGroupId, { number, since, loadBalancers: 1 })
    else {
      known.loadBalancers++
      if (since < known.since) known.since = since
    }
    if (known?.number === number) return
    // The newest placement decides. The network's other load balancers move to its shard.
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
