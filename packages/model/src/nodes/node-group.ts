import { z } from 'zod'
import { groupSettingsShape } from '../announcers/group-settings.ts'
import { ANNOUNCER_NAMES } from '../announcers/registry.ts'
import { MOST_SHARDS } from '../announcers/vrrp.ts'
import { metaShape, timestamp, uuid } from '../scalars/scalars.ts'
import { fabricChoice } from './fabric-choice.ts'

/** How long a drained node keeps serving its proxies' connections. 0: they end with the move. */
const secondChanceSeconds = z.number().int().min(0).max(3600)
export const DEFAULT_SECOND_CHANCE_S = 300

/** A planned move of a shard from one live node to another. */
export const plannedMove = z.strictObject({
  shard: z.number().int().min(1).max(MOST_SHARDS),
  fromNodeId: uuid,
  toNodeId: uuid,
})
export type PlannedMove = z.infer<typeof plannedMove>

/** Nodes that carry the same load balancers and can replace each other. */
export const nodeGroup = z.strictObject({
  ...metaShape,
  announcer: z.enum(ANNOUNCER_NAMES),
  /** The settings of each announcer, in a field with the announcer's name. */
  ...groupSettingsShape,
  /** The nodes' interface towards clients. Absent: as their agents' settings say. */
  fabric: fabricChoice.optional(),
  secondChanceSeconds: secondChanceSeconds.default(DEFAULT_SECOND_CHANCE_S),
  /**
   * The most recently requested planned moves. They run one after the other until one fails or times out. The new
   * owners stay preferred for their shards. `begun` has the numbers of the shards whose move has begun.
   */
  rebalance: z
    .strictObject({
      askedAt: timestamp,
      moves: z.array(plannedMove).max(MOST_SHARDS),
      begun: z.array(plannedMove.shape.shard).max(MOST_SHARDS).optional(),
    })
    .optional(),
  /** After this long without a change, shards are spread evenly again. Absent or 0: never. */
  rebalanceAfterSeconds: z.number().int().min(0).max(86_400).optional(),
  /**
   * Projects whose load balancers may name the group. Absent: all. A load balancer that names no group is in the
   * default group, even if that is closed to its project.
   */
  projectIds: z.array(uuid).max(10_000).optional(),
  /** The key that authenticates flow replication between the nodes: hex, generated with the group, never shown. */
  flowsKey: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
})
export type NodeGroup = z.infer<typeof nodeGroup>

/** Whether a load balancer of this project may name the group. */
export const mayUseGroup = ({ projectIds }: Pick<NodeGroup, 'projectIds'>, projectId: string | null): boolean =>
  projectIds === undefined || (projectId !== null && projectIds.includes(projectId))

/** Name of the default group. Without a group of this name the oldest is the default. */
export const DEFAULT_GROUP_NAME = 'default'

/** @param groups oldest first */
export const defaultGroupOf = <T extends Pick<NodeGroup, 'name'>>(groups: readonly T[]): T | null =>
  groups.find(({ name }) => name === DEFAULT_GROUP_NAME) ?? groups[0] ?? null

/** The fields that may be shown. */
export const publicNodeGroup = nodeGroup.omit({ flowsKey: true })
