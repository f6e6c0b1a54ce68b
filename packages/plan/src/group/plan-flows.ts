import type { FlowSettings, NodeGroup, VrrpSettings } from '@spout/model'

/** In no registry's use; below the ports that Linux gives to connections. */
const FLOWS_PORT = 7300

/**
 * With whom a node shares its flows: with those that take its shards over. Null for a node alone, for a group made
 * before it had a key, and with BGP: there every node carries flows at once, each with an address of its own.
 */
export const planFlows = (
  { announcer, flowsKey }: Pick<NodeGroup, 'announcer' | 'flowsKey'>,
  { source, peers }: Pick<VrrpSettings, 'source' | 'peers'>,
): FlowSettings | null =>
  announcer !== 'vrrp' || flowsKey === undefined || peers.length === 0
    ? null
    : { source, peers, port: FLOWS_PORT, key: flowsKey }
