import type { AgentFigures } from '@spout/agent'

/**
 * Null if the node has everything it should have and can take over shards; otherwise the reason. A rolling update of
 * agents waits for it, since the next node's addresses may move here.
 */
export function readiness({ inSync, shards }: Pick<AgentFigures, 'inSync' | 'shards'>): string | null {
  if (!inSync) return "the node's state has not arrived from the control plane, or was not applied yet"
  if (shards.stopped > 0) return `${shards.stopped} VRRP shards are not running`
  return null
}
