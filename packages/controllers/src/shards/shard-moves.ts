import type { ModelView } from '@spout/admission/contract'
import type { NodeGroup, OwnershipReader, StatusReader } from '@spout/model'
import { type BalancedNode, type MoveStep, rebalanceSteps } from '@spout/plan'
import type { Clock } from '@spout/runtime'

export interface ShardMovesOptions {
  readonly view: ModelView
  readonly status: Pick<StatusReader, 'node'> & Pick<OwnershipReader, 'shards'>
  readonly clock: Clock
}

/** The nodes of a group, as `planRebalance` needs them. */
export const balancedNodes = (
  nodeGroupId: string,
  { view, status }: Pick<ShardMovesOptions, 'view' | 'status'>,
): readonly BalancedNode[] =>
  view
    .list('node')
    .filter((node) => node.nodeGroupId === nodeGroupId)
    .map(({ id, name, scheduling }) => {
      const { connection, inSync } = status.node(id)
      return { id, name, scheduling, connection, inSync }
    })

/** The progress of the moves that were requested last; empty if there were none. */
export const stepsOf = (group: NodeGroup, options: ShardMovesOptions): readonly MoveStep[] =>
  group.rebalance === undefined
    ? []
    : rebalanceSteps(
        group.rebalance,
        options.status.shards(group.id),
        balancedNodes(group.id, options),
        options.clock.now().getTime(),
      )
