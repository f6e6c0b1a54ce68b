import type { ModelView } from '@spout/admission/contract'
import type { NodeGroup, OwnershipReader, StatusReader } from '@spout/model'
import { type BalancedNode, type MoveStep, rebalanceSteps } from '@spout/plan'
import type { Clock } from '@spout/runtime'

export interface ShardMovesOptions {
  readonly view: ModelView
  readonly status: Pick<StatusReader, 'node'> & Pick<OwnershipReader, 'shards'>
  readonly clock: Clock
}

/** The nodes of a group, as far as it matters for giving them shards. */
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

/** How far the moves have come that were last asked for; none when none ever were. */
export const stepsOf = (group: NodeGroup, options: ShardMovesOptions): readonly MoveStep[] =>
  group.rebalance === undefined
    ? []
    : rebalanceSteps(
        group.rebalance,
        options.status.shards(group.id),
        balancedNodes(group.id, options),
        options.clock.now().getTime(),
      )
