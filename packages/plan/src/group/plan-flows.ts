import type { FlowSettings, NodeGroup, VrrpSettings } from '@spout/model'

/** Unassigned by IANA, and below Linux's range of ephemeral ports. */
const FLOWS_PORT = 7300

/**
 * The nodes with which a node replicates its flows: those that can take over its shards. Null for a single node, and
 * for a group of an earlier version, which has no key.
 */
export const planFlows = (
  { flowsKey }: Pick<NodeGroup, 'flowsKey'>,
  { source, peers }: Pick<VrrpSettings, 'source' | 'peers'>,
): FlowSettings | null =>
  flowsKey === undefined || peers.length === 0 ? null : { source, peers, port: FLOWS_PORT, key: flowsKey }
