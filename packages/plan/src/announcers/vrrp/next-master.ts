import type { GroupEntry } from '@spout/model'
import type { GroupNode } from '../group-node.ts'

/**
 * The node that is expected to become master of a shard when its master gives it up: the connected one with the highest
 * priority. Null: the master keeps the shard, because it does not yield.
 * @param entries the nodes' parts in their group, by node id
 */
export function nextMaster(
  shard: number,
  masterId: string,
  nodes: readonly GroupNode[],
  entries: ReadonlyMap<string, GroupEntry>,
): string | null {
  if (entries.get(masterId)?.vrrp?.yield !== true) return null
  let next: { readonly id: string; readonly priority: number } | null = null
  for (const { id, connection } of nodes) {
    const part = entries.get(id)?.vrrp
    const priority = part?.shards.find(({ number }) => number === shard)?.priority
    if (id === masterId || connection !== 'connected' || part?.yield !== false || priority === undefined) continue
    if (next === null || priority > next.priority) next = { id, priority }
  }
  return next?.id ?? null
}
