import type { ViewOf } from '@spout/admission/contract'
import type { NodeGroup, OwnershipReader, StatusReader } from '@spout/model'
import { balancedNodes, type MoveStep, rebalanceSteps } from '@spout/plan'
import type { Clock } from '@spout/runtime'

export interface ShardMovesOptions {
  readonly view: ViewOf<'node' | 'nodeGroup'>
  readonly status: Pick<StatusReader, 'node'> & Pick<OwnershipReader, 'shards'>
  readonly clock: Clock
}

/** The progress of the moves that were requested last. Empty: there were none. */
export const stepsOf = (group: NodeGroup, options: ShardMovesOptions): readonly MoveStep[] =>
  group.rebalance === undefined
    ? []
    : rebalanceSteps(
        group.rebalance,
        options.status.shards(group.id),
        balancedNodes(group, options),
        options.clock.now().getTime(),
      )
