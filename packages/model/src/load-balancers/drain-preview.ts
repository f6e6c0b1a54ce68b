import { z } from 'zod'
import { uuid } from '../scalars/scalars.ts'
import { CONNECTION_FATES } from './preview.ts'

const shownObject = z.strictObject({ id: uuid, name: z.string() })

export const drainMove = z.strictObject({
  how: z
    .enum(['shard', 'owner', 'routers', 'stay'])
    .describe(
      'Who takes them: the node that comes next in the shard, the node that the planner chooses, all others, or nobody.',
    ),
  shard: z.number().int().nullable().describe('Null: the addresses do not follow a shard.'),
  to: shownObject.nullable().describe('The node that is expected to take them; null: no single one.'),
  message: z.string(),
  loadBalancers: z.number().int(),
  addressCount: z.number().int(),
  addresses: z.array(z.string()).describe('The first hundred of them.'),
})
export type DrainMove = z.infer<typeof drainMove>

export const drainFate = z.strictObject({
  fate: z.enum(CONNECTION_FATES),
  code: z.string(),
  message: z.string(),
  afterSeconds: z.number().int().nullable().describe('When those that are left are ended; null where nothing does.'),
  loadBalancers: z.number().int().describe('How many have such connections.'),
})
export type DrainFate = z.infer<typeof drainFate>

/** What the drain of a node would do. */
export const drainPreview = z.strictObject({
  dryRun: z.literal(true),
  node: shownObject,
  group: shownObject,
  reports: z.boolean().describe('False: the node is silent, and does not hear of a drain before it reports again.'),
  hasSuccessor: z.boolean().describe('Whether another node of the group is connected, and not drained itself.'),
  waitsFor: z
    .strictObject({ unready: z.array(z.string()), unheard: z.array(z.string()) })
    .describe('Names of nodes that the drain waits for: they cannot announce yet, or have not reported.'),
  loadBalancers: z.number().int().describe('How many load balancers the node announces addresses of.'),
  moves: z.array(drainMove),
  connections: z.array(drainFate).describe('Of the addresses that move, worst first.'),
})
export type DrainPreview = z.infer<typeof drainPreview>

/** Says what the planner would decide if a node were drained. The controllers implement it, surfaces read it. */
export interface DrainForecaster {
  /**
   * Nothing is stored.
   * @throws SpoutError NotFound for a node without a group; Unavailable while nothing is planned here
   */
  forecastDrain(nodeId: string): DrainPreview
}
