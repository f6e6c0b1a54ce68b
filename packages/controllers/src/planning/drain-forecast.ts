import {
  type DomainEntry,
  type DrainPreview,
  hasShards,
  type NodeGroup,
  type OwnershipReader,
  SpoutError,
} from '@spout/model'
import { type Carried, drainDifference, type Owner } from '@spout/plan'
import type { ClusterIndex } from '../indexes/cluster-index.ts'
import type { NodeStateTable } from '../node-states/node-state-table.ts'
import { type DrainedOwnersOptions, drainedOwners } from '../publishing/drained-owners.ts'
import type { GroupPublisher } from '../publishing/group-publisher.ts'
import { type UnsettledOptions, unsettledOf } from './unsettled.ts'

export interface DrainForecastOptions
  extends Omit<DrainedOwnersOptions, 'cluster' | 'placements' | 'status' | 'liveness'> {
  readonly cluster: ClusterIndex
  readonly placements: DrainedOwnersOptions['placements'] & UnsettledOptions['placements']
  readonly liveness: DrainedOwnersOptions['liveness']
  readonly status: DrainedOwnersOptions['status'] & Pick<OwnershipReader, 'shards'>
  readonly groups: Pick<GroupPublisher, 'drained'>
  readonly nodeStates: Pick<NodeStateTable, 'entries'>
}

/** What the drain of a node would do, planned as the drain itself would be. @throws SpoutError NotFound */
export function forecastDrain(options: DrainForecastOptions, nodeId: string): DrainPreview {
  const { cluster, groups, status } = options
  const groupId = cluster.groupOfNode(nodeId)
  const group = groupId === null ? null : cluster.group(groupId)
  if (group === null) throw new SpoutError('NotFound', { what: 'Node group of node', id: nodeId })
  return drainDifference({
    ...groups.drained(group, nodeId),
    ...{ nodeId, group, shards: status.shards(group.id) },
    carried: carriedBy(options, nodeId),
    owners: ownersAfter(options, group, nodeId),
  })
}

/** Masters of shards are elected: only without shards does the planner choose owners. */
const ownersAfter = (options: DrainForecastOptions, group: NodeGroup, nodeId: string): ReadonlyMap<string, Owner> =>
  hasShards(group) ? new Map() : drainedOwners(options, nodeId, unsettledOf(options, group.id, nodeId))

function* carriedBy({ view, nodeStates }: DrainForecastOptions, nodeId: string): Iterable<Carried> {
  const entries = [...nodeStates.entries(nodeId)].map(({ entry }) => entry)
  const isSharing = ({ subnets }: DomainEntry): boolean => subnets.some(({ sharedAddress }) => sharedAddress !== null)
  const domains = entries.filter((entry) => entry.kind === 'domain')
  const sharing = new Set(domains.filter(isSharing).map(({ number }) => number))
  for (const entry of entries) {
    if (entry.kind !== 'load-balancer') continue
    const networkId = view.get('loadBalancer', entry.id)?.value.networkId
    const returnPath = view.get('network', networkId ?? '')?.value.returnPath ?? null
    yield { entry, returnPath, isShared: sharing.has(entry.domain) }
  }
}
