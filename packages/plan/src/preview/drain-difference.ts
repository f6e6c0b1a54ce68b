import { type DrainMove, type DrainPreview, type Network, shardOfAnnounce } from '@spout/model'
import type { LoadBalancerEntry } from '@spout/model/node-state'
import { hasSuccessor } from '../announcers/group-node.ts'
import type { AwaitedNodes } from '../group/held-drains.ts'
import { MOST_SHOWN } from './compared.ts'
import { drainFates, type Leaving } from './drain-fates.ts'
import { type PlannedDrain, shardWays, type Way, wayWithoutShard } from './drain-ways.ts'

/** A load balancer on the node that is drained. */
export interface Carried {
  /** What the node has of it now. */
  readonly entry: LoadBalancerEntry
  /** Null: its network is gone. */
  readonly returnPath: Network['returnPath'] | null
  /** Whether members see an address that the nodes share. */
  readonly isShared: boolean
}

export interface DrainInput extends PlannedDrain {
  /** Null: the drain begins as soon as the others know of it. */
  readonly waitsFor: AwaitedNodes | null
  readonly carried: Iterable<Carried>
}

/**
 * What the drain of a node would do: which addresses leave it, who is expected to take them, and what happens to open
 * connections. Pure. Nodes elect the masters of shards by themselves, so the next one is the one that the plan prefers.
 */
export function drainDifference(drain: DrainInput): DrainPreview {
  const { nodeId, group, nodes, plan, waitsFor } = drain
  const node = nodes.find(({ id }) => id === nodeId)
  const { moves, leaving, loadBalancers } = summed(drain)
  const part = plan.entries.get(nodeId)
  return {
    dryRun: true,
    node: { id: nodeId, name: node?.name ?? nodeId },
    group: { id: group.id, name: group.name },
    reports: node?.connection === 'connected',
    hasSuccessor: node !== undefined && hasSuccessor(node, nodes),
    waitsFor: { unready: [...(waitsFor?.unready ?? [])], unheard: [...(waitsFor?.unheard ?? [])] },
    loadBalancers,
    moves: [...moves],
    connections: drainFates(leaving, {
      replicates: (part?.flows ?? null) !== null,
      elects: (part?.vrrp ?? null) !== null,
      secondChanceSeconds: group.secondChanceSeconds,
    }),
  }
}

interface Sum extends Way {
  readonly loadBalancers: Set<string>
  readonly addresses: string[]
}

function summed(drain: DrainInput) {
  const byShard = shardWays(drain)
  // A shard may have no addresses yet.
  const sums = new Map([...byShard.values()].map((way) => [keyOf(way), emptySum(way)]))
  const touched = new Set<string>()
  const leaving: Leaving[] = []
  for (const { entry, returnPath, isShared } of drain.carried) {
    const ways = entry.vips.flatMap(({ address, announce }) => {
      const shard = announce && shardOfAnnounce(announce)
      const way = announce && (shard === null ? wayWithoutShard(drain, entry.id) : byShard.get(shard))
      return way ? [{ address, way }] : []
    })
    for (const { address, way } of ways) {
      const sum = sums.get(keyOf(way)) ?? emptySum(way)
      sums.set(keyOf(way), sum)
      sum.loadBalancers.add(entry.id)
      sum.addresses.push(address)
      touched.add(entry.id)
    }
    if (returnPath !== null && ways.some(({ way }) => way.how !== 'stay'))
      leaving.push({ services: entry.services, returnPath, isShared })
  }
  return { moves: [...sums.values()].sort(byPlace).map(shown), leaving, loadBalancers: touched.size }
}

const keyOf = ({ how, shard, to, message }: Way): string => JSON.stringify([how, shard, to?.id, message])

const emptySum = (way: Way): Sum => ({ ...way, loadBalancers: new Set(), addresses: [] })

const shown = ({ loadBalancers, addresses, ...way }: Sum): DrainMove => ({
  ...way,
  loadBalancers: loadBalancers.size,
  addressCount: addresses.length,
  addresses: addresses.slice(0, MOST_SHOWN),
})

/** Shards by number, then what stays, then nodes by name. */
function byPlace(one: Sum, other: Sum): number {
  const byShard = (one.shard ?? Number.MAX_SAFE_INTEGER) - (other.shard ?? Number.MAX_SAFE_INTEGER)
  const [name, next] = [one.to?.name ?? '', other.to?.name ?? '']
  if (byShard !== 0 || name === next) return byShard
  return name < next ? -1 : 1
}
