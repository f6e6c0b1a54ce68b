import {
  fabricAddressOf,
  hasShards,
  loadBalancerKey,
  MOST_WATCHED,
  type Node,
  type NodeGroup,
  type Sight,
  shardOfAnnounce,
  type WatchedNode,
} from '@spout/model'
import type { ClusterIndex } from '../indexes/cluster-index.ts'
import type { PlacementLog } from '../indexes/placement-log.ts'
import type { NodeStateTable } from '../node-states/node-state-table.ts'
import type { NodeLiveness, PeerSight } from './node-liveness.ts'

/** Reads what nodes report about silent ones. */
export interface SightReader {
  sights(nodeId: string): readonly Sight[]
  confirmedHash(nodeId: string, key: string): string | null
}

export interface PeerWatchOptions {
  readonly cluster: ClusterIndex
  readonly placements: Pick<PlacementLog, 'ownedBy'>
  readonly nodeStates: Pick<NodeStateTable, 'get'>
  readonly liveness: NodeLiveness
  readonly status: SightReader
}

/** How many nodes probe a silent node. It is enough if one of them sees it answer. */
const WITNESSES = 3
/** How many of its VIPs they probe. */
const VIPS = 3
/** How many of its load balancers are searched for VIPs. */
const MOST_LOOKED_AT = 100

const NOBODY: ReadonlyMap<string, readonly WatchedNode[]> = new Map()

interface Missed {
  readonly watched: WatchedNode
  readonly probers: readonly string[]
}

/**
 * Has silent nodes probed by other nodes, in groups without shards, where the planner moves addresses. The other nodes
 * report whether the silent node still answers for its addresses on the fabric. If it does, it has only lost the
 * control plane, and an address that moved would have two owners.
 */
export class PeerWatch {
  readonly #options: PeerWatchOptions
  /** By group id, then by id of the silent node. */
  readonly #missed = new Map<string, ReadonlyMap<string, Missed>>()
  /** By group id, then by id of the probing node. */
  readonly #watches = new Map<string, ReadonlyMap<string, readonly WatchedNode[]>>()

  constructor(options: PeerWatchOptions) {
    this.#options = options
  }

  /** The nodes to probe, by id of the probing node. */
  watches(groupId: string): ReadonlyMap<string, readonly WatchedNode[]> {
    return this.#watches.get(groupId) ?? NOBODY
  }

  /** Updates which nodes are silent and which nodes probe them, and passes results to liveness. */
  update(group: NodeGroup): void {
    const before = this.#missed.get(group.id)
    if (before === undefined && (hasShards(group) || this.#options.liveness.suspected.size === 0)) return
    if (hasShards(group)) {
      this.#missed.delete(group.id)
      this.#watches.delete(group.id)
      for (const nodeId of before?.keys() ?? []) this.#options.liveness.setPeerSight(nodeId, null)
      return
    }
    const nodes = this.#options.cluster.nodesOf(group.id)
    const loads = new Map<string, WatchedNode[]>()
    const missed = new Map<string, Missed>()
    for (const [index, node] of nodes.entries()) {
      if (!this.#options.liveness.suspected.has(node.id)) continue
      const watched = before?.get(node.id)?.watched ?? this.#watched(node)
      if (watched === null) continue
      const probers = this.#probers(nodes, index, loads)
      for (const id of probers) loads.set(id, [...(loads.get(id) ?? []), watched])
      missed.set(node.id, { watched, probers })
    }
    if (missed.size === 0) {
      this.#missed.delete(group.id)
      this.#watches.delete(group.id)
      return
    }
    this.#missed.set(group.id, missed)
    this.#watches.set(group.id, loads)
    this.reported(group.id)
  }

  /** Call when a node of the group reported. Passes results to liveness. */
  reported(groupId: string): void {
    for (const [nodeId, { probers }] of this.#missed.get(groupId) ?? [])
      this.#options.liveness.setPeerSight(nodeId, this.#peerSightOf(nodeId, probers))
  }

  #peerSightOf(nodeId: string, probers: readonly string[]): PeerSight | null {
    const said = probers.map(
      (id) => this.#options.status.sights(id).find((sight) => sight.nodeId === nodeId)?.answers ?? null,
    )
    if (said.includes(true)) return 'answers'
    if (said.includes(null)) return 'awaited'
    return said.length > 0 ? 'silent' : null
  }

  /** The nodes that probe: the connected ones that follow in the group's order. They stay the same while connected. */
  #probers(nodes: readonly Node[], index: number, loads: ReadonlyMap<string, readonly unknown[]>): readonly string[] {
    const found: string[] = []
    for (let step = 1; step < nodes.length && found.length < WITNESSES; step++) {
      const { id } = nodes[(index + step) % nodes.length] as Node
      if (this.#options.liveness.of(id) !== 'connected') continue
      if ((loads.get(id)?.length ?? 0) < MOST_WATCHED) found.push(id)
    }
    return found
  }

  /** The addresses of a node to probe; null if it has none. VIPs that the node confirmed come first. */
  #watched(node: Node): WatchedNode | null {
    const { placements, nodeStates, status } = this.#options
    const confirmed: string[] = []
    const wanted: string[] = []
    let looked = 0
    for (const id of placements.ownedBy(node.id)) {
      if (confirmed.length >= VIPS || looked++ >= MOST_LOOKED_AT) break
      const key = loadBalancerKey(id)
      const entry = nodeStates.get(node.id, key)?.entry
      if (entry?.kind !== 'load-balancer') continue
      const vip = entry.vips.find(
        ({ scope, announce }) => scope === 'fabric' && announce !== null && shardOfAnnounce(announce) === null,
      )
      if (vip === undefined) continue
      if (status.confirmedHash(node.id, key) !== null) confirmed.push(vip.address)
      else if (wanted.length < VIPS) wanted.push(vip.address)
    }
    if (confirmed.length > 0) return { nodeId: node.id, addresses: confirmed }
    if (wanted.length > 0) return { nodeId: node.id, addresses: wanted }
    const address = fabricAddressOf(node)
    return address === null ? null : { nodeId: node.id, addresses: [address] }
  }
}
