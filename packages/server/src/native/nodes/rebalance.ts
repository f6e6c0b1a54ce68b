import { hasShards, type NodeGroup, plannedMove, SpoutError, timestamp, uuid } from '@spout/model'
import { balancedNodes, planRebalance, rebalanceSteps } from '@spout/plan'
import { z } from 'zod'
import type { NativeContext } from '../operations/context.ts'
import { type Route, route } from '../operations/route.ts'

const step = z.strictObject({
  ...plannedMove.shape,
  state: z.enum(['done', 'moving', 'waiting', 'failed']),
  message: z.string().nullable(),
})
const plan = z.strictObject({ moves: z.array(plannedMove) })
const progress = z.strictObject({ askedAt: timestamp.nullable(), steps: z.array(step) })

const tag = 'nodes'

/** Spreads the shards of a group evenly over its ready nodes, and shows the progress. */
export const rebalanceRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/node-groups/:id/rebalance',
    tag,
    summary:
      'Move shards, one after the other, until they are spread evenly over the ready nodes; `dryRun` only lists the moves',
    access: 'admin',
    body: z.strictObject({ dryRun: z.boolean().default(false) }),
    answer: { status: 200, schema: plan },
    handle: async (context, { params, body }) => {
      const group = groupOf(context, params.id ?? '')
      const { id } = group
      const moves = planRebalance(context.ownership.shards(id), balancedNodes(group, context))
      if (!body.dryRun && moves.length > 0) await context.admission.rebalanceNodeGroup(id, () => moves)
      return { moves }
    },
  }),
  route({
    method: 'GET',
    path: '/node-groups/:id/rebalance',
    tag,
    summary: 'Show the progress of the moves that were requested last',
    access: 'admin',
    body: null,
    answer: { status: 200, schema: progress },
    handle: (context, { params }) => {
      const group = groupOf(context, params.id ?? '')
      const { rebalance } = group
      if (rebalance === undefined) return { askedAt: null, steps: [] }
      const shards = context.ownership.shards(group.id)
      const steps = rebalanceSteps(rebalance, shards, balancedNodes(group, context), context.clock.now().getTime())
      return { askedAt: rebalance.askedAt, steps }
    },
  }),
]

/** @throws SpoutError NotFound; InvalidField for a group without shards */
function groupOf({ view }: NativeContext, id: string): NodeGroup {
  const group = uuid.safeParse(id).success ? view.get('nodeGroup', id)?.value : undefined
  if (group === undefined) throw new SpoutError('NotFound', { what: 'Node group', id })
  if (!hasShards(group))
    throw new SpoutError('InvalidField', { field: 'announcer', reason: `${group.announcer} has no shards` })
  return group
}
