import type { FlowSettings, NodeGroup, VrrpSettings } from '@spout/model'

/** In no registry's use; below the ports that Linux gives to connections. */
const FLOWS_PORT = 7300

/**
 * With whom a node shares its flows: with those that take its shards over. Null for a node alone, and for a group made
 * before it had a key.
 */
export const planFlows = (
  { flowsKey }: Pick<NodeGroup, 'flowsKey'>,
  { source, peers }: Pick<VrrpSettings, 'source' | 'peers'>,
): FlowSettings | null =>
  flowsKey === undefined || peers.length === 0 ? null : { source, peers, port: FLOWS_PORT, key: flowsKey }
