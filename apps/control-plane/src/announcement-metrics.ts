import type { ModelView } from '@spout/admission/contract'
import type { CurrentStatus } from '@spout/controllers'
import type { Metrics } from '@spout/runtime/metrics'

interface Described {
  readonly view: ModelView
  readonly status: CurrentStatus
}

/**
 * Metrics of announcements and of flow replication, by shard, node and session. The number of series does not grow with
 * VIPs or tenants.
 */
export function describeAnnouncements(metrics: Metrics, described: Described): void {
  describeShards(metrics, described)
  describeNodes(metrics, described)
  describeFlows(metrics, described)
  describeFailover(metrics, described)
}

function describeShards(metrics: Metrics, { view, status }: Described): void {
  const shards = () =>
    view
      .list('nodeGroup')
      .flatMap((group) =>
        status.shards(group.id).map((shard) => ({ group: group.name, shard: String(shard.number), status: shard })),
      )
  const nameOf = (id: string): string => view.get('node', id)?.value.name ?? id
  metrics.gauge(
    { name: 'spout_shard_owners', help: 'Nodes that own a shard: 1 is right', labels: ['group', 'shard'] },
    () =>
      shards().map(({ group, shard, status: { masterNodeIds } }) => ({
        labels: { group, shard },
        value: masterNodeIds.length,
      })),
  )
  metrics.gauge(
    {
      name: 'spout_vip_owner',
      help: '1 for the node that owns a shard and its VIPs, 0 for the others',
      labels: ['group', 'shard', 'node'],
    },
    () =>
      shards().flatMap(({ group, shard, status: { nodes, ownerNodeId } }) =>
        nodes.map(({ nodeId }) => ({
          labels: { group, shard, node: nameOf(nodeId) },
          value: nodeId === ownerNodeId ? 1 : 0,
        })),
      ),
  )
}

function describeNodes(metrics: Metrics, { view, status }: Described): void {
  metrics.gauge({ name: 'spout_vips_announced', help: 'VIPs that a node announces', labels: ['node'] }, () =>
    view.list('node').map(({ id, name }) => ({ labels: { node: name }, value: status.node(id).announced })),
  )
  metrics.gauge({ name: 'spout_bgp_session_up', help: '1 for an established session', labels: ['node', 'peer'] }, () =>
    view.list('node').flatMap(({ id, name }) =>
      status.node(id).bgpSessions.map(({ peerId, state }) => ({
        labels: { node: name, peer: view.get('bgpPeer', peerId)?.value.name ?? peerId },
        value: state === 'established' ? 1 : 0,
      })),
    ),
  )
  metrics.gauge(
    {
      name: 'spout_addresses_claimed',
      help: "A node's addresses that somebody else on the wire claims: 0 is right",
      labels: ['node'],
    },
    () =>
      view
        .list('node')
        .map(({ id, name }) => ({ labels: { node: name }, value: status.node(id).addressConflicts.length })),
  )
}

function describeFlows(metrics: Metrics, { view, status }: Described): void {
  const flows = () =>
    view.list('node').flatMap(({ id, name }) => {
      const said = status.node(id).flows
      return said === null ? [] : [{ node: name, said }]
    })
  metrics.gauge(
    {
      name: 'spout_flows',
      help: 'Flows of return path snat that a node carries, and those of other nodes that it holds ready',
      labels: ['node', 'role'],
    },
    () =>
      flows().flatMap(({ node, said }) =>
        (['carried', 'ready'] as const).map((role) => ({ labels: { node, role }, value: said[role] })),
      ),
  )
  metrics.gauge(
    { name: 'spout_flow_peers', help: 'Nodes that a node shares flows with', labels: ['node', 'state'] },
    () =>
      flows().flatMap(({ node, said: { peers, silent } }) => [
        { labels: { node, state: 'heard' }, value: peers - silent },
        { labels: { node, state: 'silent' }, value: silent },
      ]),
  )
  metrics.counters(
    {
      name: 'spout_flow_conflicts_total',
      help: 'refused: flows of other nodes that could not be held ready; insisted: claims of others to flows that the node carries',
      labels: ['node', 'what'],
    },
    () =>
      flows().flatMap(({ node, said }) =>
        (['refused', 'insisted'] as const).map((what) => ({ labels: { node, what }, value: said[what] })),
      ),
  )
  metrics.counters(
    {
      name: 'spout_flows_missed_total',
      help: 'Flows that another node carried and that were not ready when their address moved to this one: 0 is right',
      labels: ['node'],
    },
    () => flows().map(({ node, said }) => ({ labels: { node }, value: said.missed ?? 0 })),
  )
  metrics.counters(
    {
      name: 'spout_flow_datagrams_total',
      help: 'Datagrams that carry flows between nodes; refused: without the key, out of order or from strangers',
      labels: ['node', 'what'],
    },
    () =>
      flows().flatMap(({ node, said: { datagrams } }) =>
        (['sent', 'received', 'lost', 'refused'] as const).map((what) => ({
          labels: { node, what },
          value: datagrams[what],
        })),
      ),
  )
}

function describeFailover(metrics: Metrics, { view, status }: Described): void {
  const failover = metrics.histogram({
    name: 'spout_failover_seconds',
    help: "From the last sign of a shard's master to the takeover by another node, as the nodes report it",
    labels: ['group'],
    buckets: [0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 3, 10],
  })
  status.onTakeover(({ nodeGroupId, durationMs }) => {
    if (durationMs !== null)
      failover.observe({ group: view.get('nodeGroup', nodeGroupId)?.value.name ?? nodeGroupId }, durationMs / 1000)
  })
}
