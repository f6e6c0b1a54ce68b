import type { Placement } from '@spout/model'
import { NumberRuns } from '../ipam/number-runs.ts'
import { ShardIndex } from './shard-index.ts'

const LAST_POOL_NUMBER = 0xffffff

/**
 * An index of all placements, with what the plan of one load balancer depends on of all others: how many each node
 * owns, which pool numbers a network uses, and which node or shard has a network's gateway. The cost of an update
 * depends on the change.
 */
export class PlacementIndex {
  readonly #placements = new Map<string, Placement>()
  readonly #owned = new Map<string, number>()
  readonly #numbers = new Map<string, NumberRuns>()
  readonly #highest = new Map<string, number>()
  /** network id -> node id -> how many load balancers of the network it owns */
  readonly #owners = new Map<string, Map<string, number>>()
  readonly #shards = new ShardIndex()

  get(loadBalancerId: string): Placement | null {
    return this.#placements.get(loadBalancerId) ?? null
  }

  put(placement: Placement): void {
    this.#shards.replace(this.get(placement.id), placement)
    this.#remove(placement.id)
    this.#placements.set(placement.id, placement)
    this.#count(placement, 1)
    const { networkId } = placement
    if (networkId === null) return
    const numbers = this.#numbers.get(networkId) ?? new NumberRuns()
    this.#numbers.set(networkId, numbers)
    for (const { number } of placement.pools) {
      numbers.add(BigInt(number))
      this.#highest.set(networkId, Math.max(number, this.#highest.get(networkId) ?? 0))
    }
  }

  remove(loadBalancerId: string): void {
    this.#shards.replace(this.get(loadBalancerId), null)
    this.#remove(loadBalancerId)
  }

  /** The shard of a network's load balancers in a group; null if it has none yet. */
  shardOf(networkId: string, groupId: string): number | null {
    return this.#shards.of(networkId, groupId)
  }

  /** Since when the group has carried load balancers of the network (RFC 3339). Null: it carries none. */
  carriedSince(networkId: string, groupId: string): string | null {
    return this.#shards.since(networkId, groupId)
  }

  /** The shard of a group with the fewest networks, then the fewest load balancers. */
  freestShard(groupId: string, shards: number): number {
    return this.#shards.freest(groupId, shards)
  }

  /** The shard that announces the network's gateways: that of the group that has carried the network longest. */
  gatewayShard(networkId: string): { readonly groupId: string; readonly number: number } | null {
    return this.#shards.first(networkId)
  }

  #remove(loadBalancerId: string): void {
    const placement = this.#placements.get(loadBalancerId)
    if (placement === undefined) return
    this.#placements.delete(loadBalancerId)
    this.#count(placement, -1)
    if (placement.networkId === null) return
    const numbers = this.#numbers.get(placement.networkId)
    for (const pool of placement.pools) numbers?.delete(BigInt(pool.number))
    if (numbers?.size === 0) this.#numbers.delete(placement.networkId)
  }

  /** How many load balancers the node owns. */
  ownedBy(nodeId: string): number {
    return this.#owned.get(nodeId) ?? 0
  }

  /**
   * Nodes that own load balancers of the network, the one with the most first. With return path `gateway` the first
   * node holds the members' gateway. There are other nodes only while their load balancers move to the first, or
   * because it cannot carry these.
   */
  gatewayOwners(networkId: string): readonly string[] {
    const owners = this.#owners.get(networkId)
    if (owners === undefined) return []
    if (owners.size === 1) return [...owners.keys()]
    return [...owners].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1)).map(([nodeId]) => nodeId)
  }

  /**
   * A pool number above `after` that no placement of the network uses. Null: there is none. Numbers that were freed are
   * reused only after all others, so that a node does not see a number move from one entry to another.
   */
  freePoolNumber(networkId: string, after: number): number | null {
    const numbers = this.#numbers.get(networkId)
    const from = Math.max(after, this.#highest.get(networkId) ?? 0)
    if (from < LAST_POOL_NUMBER) return from + 1
    const free = numbers?.lowestMissing(after < LAST_POOL_NUMBER ? BigInt(after + 1) : 1n, BigInt(LAST_POOL_NUMBER))
    return free === undefined || free === null ? null : Number(free)
  }

  #count({ networkId, ownerNodeId }: Placement, by: 1 | -1): void {
    if (ownerNodeId === null) return
    const owned = this.ownedBy(ownerNodeId) + by
    if (owned === 0) this.#owned.delete(ownerNodeId)
    else this.#owned.set(ownerNodeId, owned)
    if (networkId === null) return
    const owners = this.#owners.get(networkId) ?? new Map<string, number>()
    const ofNetwork = (owners.get(ownerNodeId) ?? 0) + by
    if (ofNetwork === 0) owners.delete(ownerNodeId)
    else owners.set(ownerNodeId, ofNetwork)
    if (owners.size === 0) this.#owners.delete(networkId)
    else this.#owners.set(networkId, owners)
  }
}
