import type { AgentFigures } from '@spout/agent'

/**
 * Null when the node has what it is told to have, and can take over what others carry; else why not. Who replaces agents
 * one after the other waits for that: the next one's addresses come here.
 */
export function readiness({ inSync, shards }: Pick<AgentFigures, 'inSync' | 'shards'>): string | null {
  if (!inSync) return 'what the control plane wants of this node has not arrived, or was not tried yet'
  if (shards.stopped > 0) return `${shards.stopped} VRRP shards are not running`
  return null
}
