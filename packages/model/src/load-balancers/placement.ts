import { z } from 'zod'
import { MOST_SHARDS } from '../announcers/vrrp.ts'
import { metaShape, timestamp, uuid } from '../scalars/scalars.ts'

/**
 * The planner's decision for one load balancer, as far as it must be remembered: the owner, the numbers on the nodes,
 * and the slot tables that later edits start from. `id` is the load balancer's. Durable, so that a restart moves no
 * flow.
 */
export const placement = z.strictObject({
  ...metaShape,
  networkId: uuid.nullable(),
  /** The node that announces the VIPs; null when none can, and where nodes elect it among themselves. */
  ownerNodeId: uuid.nullable(),
  /** Its shard, in groups with shards. */
  shard: z
    .strictObject({
      nodeGroupId: uuid,
      number: z.number().int().min(1).max(MOST_SHARDS),
      /**
       * Since when the group has carried load balancers of the network without a break: of several groups the first one holds
       * the network's gateways. Absent where it was placed before this was kept: since it was placed.
       */
      since: timestamp.optional(),
    })
    .nullable()
    .default(null),
  /** Why this owner, or why none: a code, and a sentence. */
  reason: z.strictObject({ code: z.string(), message: z.string() }),
  pools: z.array(
    z.strictObject({
      poolId: uuid,
      number: z.number().int().min(1).max(0xffffff),
      /** Member ids by slot-table index; null is a free index. */
      members: z.array(uuid.nullable()),
      slots: z
        .strictObject({
          size: z.union([z.literal(64), z.literal(256), z.literal(1024), z.literal(4096)]),
          table: z.string(),
        })
        .nullable(),
    }),
  ),
})
export type Placement = z.infer<typeof placement>
