import { z } from 'zod'
import { MOST_SHARDS } from '../announcers/vrrp.ts'
import { metaShape, timestamp, uuid } from '../scalars/scalars.ts'

/**
 * The part of the planner's decision for one load balancer that must survive a restart: the owner, the numbers on the
 * nodes, and the slot tables that later edits start from. It is stored, so that a restart moves no flow. `id` is the
 * load balancer's.
 */
export const placement = z.strictObject({
  ...metaShape,
  networkId: uuid.nullable(),
  /** The node that announces the VIPs. Null if none can, or if the nodes elect it. */
  ownerNodeId: uuid.nullable(),
  /** Its shard, in groups with shards. */
  shard: z
    .strictObject({
      nodeGroupId: uuid,
      number: z.number().int().min(1).max(MOST_SHARDS),
      /**
       * Since when the group has carried load balancers of the network without a break. If several groups carry the
       * network, the one with the earliest time holds its gateways. Absent in placements of earlier versions:
       * `createdAt` counts.
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
