import type { ModelView } from '@spout/admission'
import { fabricAddressOf, type NodeGroup } from '@spout/model'
import { type GroupNode, planGroup } from '@spout/plan'
import type { Clock, Timer } from '@spout/runtime'
import type { ClusterIndex } from './cluster-index.ts'
import type { NodeLiveness } from './node-liveness.ts'
import type { NodeStateTable } from './node-state-table.ts'
import { connectionOf } from './planned-connection.ts'

export interface GroupPublisherOptions {
  readonly view: ModelView
  readonly cluster: ClusterIndex
  readonly nodeStates: NodeStateTable
  readonly liveness: NodeLiveness
  readonly clock: Clock
}

/**
 * Publishes how each node takes part in its group's announcements. Planned anew whenever something it is made of changes:
 * a handful of nodes, nothing of tenants.
 */
export class GroupPublisher {
  readonly #options: GroupPublisherOptions
  /** By group id: the nodes that have its entry now. */
  readonly #published = new Map<string, ReadonlySet<string>>()
  readonly #timers = new Map<string, Timer>()

  constructor(options: GroupPublisherOptions) {
    this.#options = options
  }

  publishAll(): void {
    for (const { id } of this.#options.view.list('nodeGroup')) this.publish(id)
  }

  publish(groupId: string): void {
    const { view, cluster, nodeStates, clock } = this.#options
    const group = cluster.group(groupId)
    const nodes = cluster.nodesOf(groupId)
    const before = this.#published.get(groupId) ?? new Set<string>()
    this.#timers.get(groupId)?.clear()
    this.#timers.delete(groupId)
    const now = new Set(group === null ? [] : nodes.map(({ id }) => id))
    const plan = group === null ? null : this.#plan(group)
    // A node that has gone to another group is that group's now.
    const mine = new Set([...before, ...now].filter((id) => now.has(id) || cluster.groupOfNode(id) === null))
    nodeStates.setOn(mine, 'group', plan?.entries ?? new Map())
    for (const id of mine) nodeStates.setProblems(id, plan?.problems.get(id) ?? [])
    if (view.get('nodeGroup', groupId) === null && now.size === 0) this.#published.delete(groupId)
    else this.#published.set(groupId, now)
    if (plan !== null && plan.againAtMs !== null)
      this.#timers.set(
        groupId,
        clock.setTimer(() => this.publish(groupId), Math.max(1, plan.againAtMs - clock.now().getTime())),
      )
  }

  close(): void {
    for (const timer of this.#timers.values()) timer.clear()
    this.#timers.clear()
  }

  #plan(group: NodeGroup) {
    const { view, cluster, liveness, clock } = this.#options
    return planGroup({
      group,
      nodes: cluster.nodesOf(group.id).map(
        (node): GroupNode => ({
          id: node.id,
          name: node.name,
          scheduling: node.scheduling,
          schedulingSince: node.schedulingSince,
          fabricAddress: fabricAddressOf(node),
          connection: connectionOf(node, liveness.of(node.id)),
        }),
      ),
      peers: view.list('bgpPeer'),
      advertisements: view.list('bgpAdvertisement'),
      nowMs: clock.now().getTime(),
    })
  }
}
