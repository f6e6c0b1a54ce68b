import { type NodeDifference, type PlanDifference, sameJson } from '@spout/model'
import type { LoadBalancerEntry } from '@spout/model/node-state'
import { entryOf, type Planned } from './compared.ts'
import { connectionFates } from './connection-fates.ts'
import { partDifferences } from './part-differences.ts'
import { proxyDifference } from './proxy-difference.ts'

/**
 * Compares what is planned for a load balancer before and after a change: what each node does, what moves, and which
 * open connections end. Pure.
 * @param before null: it is new. @param after null: it is deleted
 * @param nodeName the name of a node of its group
 */
export function planDifference(
  before: Planned | null,
  after: Planned | null,
  nodeName: (nodeId: string) => string,
): PlanDifference {
  const named = (side: Planned | null): string | null => {
    const id = side?.plan.placement.ownerNodeId ?? null
    return id === null ? null : nodeName(id)
  }
  const shardOf = (side: Planned | null): number | null => side?.plan.placement.shard?.number ?? null
  return {
    reason: after === null ? null : after.plan.reason,
    owner: { before: named(before), after: named(after) },
    shard: { before: shardOf(before), after: shardOf(after) },
    nodes: nodeDifferences(before, after, nodeName),
    parts: [...partDifferences(before, after)],
    connections: [...connectionFates(before, after)],
  }
}

function nodeDifferences(
  before: Planned | null,
  after: Planned | null,
  nodeName: (nodeId: string) => string,
): NodeDifference[] {
  const [was, is] = [before?.plan.entries ?? NO_ENTRIES, after?.plan.entries ?? NO_ENTRIES]
  const proxy = proxyDifference(before && entryOf(before), after && entryOf(after))
  const isSame = isSameForNodes(before && entryOf(before), after && entryOf(after))
  return [...new Set([...was.keys(), ...is.keys()])]
    .map((nodeId): NodeDifference => {
      const [had, has] = [was.get(nodeId), is.get(nodeId)]
      const announces = { before: isAnnounced(had), after: isAnnounced(has) }
      const changed = isSame && sameJson(had?.vips, has?.vips) ? 'unchanged' : 'changed'
      const change = had === undefined ? 'added' : has === undefined ? 'removed' : changed
      return { nodeId, nodeName: nodeName(nodeId), change, announces, proxy }
    })
    .sort((one, other) => (one.nodeName < other.nodeName ? -1 : 1))
}

const NO_ENTRIES: Planned['plan']['entries'] = new Map()

const isAnnounced = (entry: LoadBalancerEntry | undefined): boolean =>
  entry?.vips.some(({ announce }) => announce !== null) === true

/** Whether nodes have nothing to do but to note the generation. */
function isSameForNodes(before: LoadBalancerEntry | null, after: LoadBalancerEntry | null): boolean {
  if (before === null || after === null) return before === after
  const { generation: _, vips: _vips, ...own } = before
  const { generation: _next, vips: _now, ...others } = after
  return sameJson(own, others)
}
