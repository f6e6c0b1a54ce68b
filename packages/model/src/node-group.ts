import { z } from 'zod'
import { asNumber } from './bgp.ts'
import { metaShape, timestamp, uuid } from './scalars.ts'

/**
 * How a group's nodes announce VIPs. `l2`: the planner picks one node per network. `vrrp`: the nodes elect a master per
 * shard. `bgp`: every node announces to its routers.
 */
export const ANNOUNCERS = ['l2', 'vrrp', 'bgp'] as const
export type AnnouncerName = (typeof ANNOUNCERS)[number]

/** How fast a silent master is replaced, and how much timing precision that needs from the machines. */
export const VRRP_PROFILES = ['default', 'fast', 'relaxed'] as const
export type VrrpProfile = (typeof VRRP_PROFILES)[number]

export const MOST_SHARDS = 16

/** A VRID (RFC 5798 section 5.2.3). */
const routerId = z.number().int().min(1).max(255)

export const vrrpSettings = z.strictObject({
  profile: z.enum(VRRP_PROFILES).default('default'),
  /** How many parts of the group's VIPs can move independently. All VIPs of a tenant network are in one shard. */
  shards: z.number().int().min(1).max(MOST_SHARDS).default(4),
  /** One per shard, by shard number; unique over all groups. Empty for announcer `l2`. */
  routerIds: z.array(routerId).max(MOST_SHARDS).default([]),
  /** Ids that other routers on the segment use. No shard gets one. */
  excludedRouterIds: z.array(routerId).max(255).default([]),
})
export type GroupVrrp = z.infer<typeof vrrpSettings>

export const groupBgpSettings = z.strictObject({
  localAs: asNumber,
  /** `healthy` announces an address only while its load balancer has a member that is up. */
  policy: z.enum(['always', 'healthy']).default('healthy'),
  /** How long a draining node asks routers to prefer others before it withdraws its routes. */
  drainSeconds: z.number().int().min(0).max(3600).default(10),
})
export type GroupBgp = z.infer<typeof groupBgpSettings>

/** How long a drained node keeps serving its proxies' connections. 0 ends them with the move. */
const secondChanceSeconds = z.number().int().min(0).max(3600)
export const DEFAULT_SECOND_CHANCE_S = 300

/** A planned move of a shard from one live node to another. */
export const plannedMove = z.strictObject({
  shard: z.number().int().min(1).max(MOST_SHARDS),
  fromNodeId: uuid,
  toNodeId: uuid,
})
export type PlannedMove = z.infer<typeof plannedMove>

/** Nodes that can replace each other. */
export const nodeGroup = z.strictObject({
  ...metaShape,
  announcer: z.enum(ANNOUNCERS),
  vrrp: vrrpSettings.prefault({}),
  /** Required by announcer `bgp`. Such a group also has shards, for addresses inside tenant networks. */
  bgp: groupBgpSettings.nullable().default(null),
  secondChanceSeconds: secondChanceSeconds.default(DEFAULT_SECOND_CHANCE_S),
  /**
   * The planned moves that were requested last. They run one after the other until one fails or times out. The new
   * owners stay preferred for their shards.
   */
  rebalance: z.strictObject({ askedAt: timestamp, moves: z.array(plannedMove).max(MOST_SHARDS) }).optional(),
  /** Shards are spread evenly again when nothing has changed for this long; absent or 0: never. */
  rebalanceAfterSeconds: z.number().int().min(0).max(86_400).optional(),
  /**
   * Projects whose load balancers may name the group; absent: all. A load balancer that names no group is in the
   * default group, whatever its project.
   */
  projectIds: z.array(uuid).max(10_000).optional(),
  /** Key that authenticates flow replication between its nodes: hex, generated with the group, never shown. */
  flowsKey: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
})
export type NodeGroup = z.infer<typeof nodeGroup>

/** Whether load balancers of this project may name the group. */
export const mayUseGroup = ({ projectIds }: Pick<NodeGroup, 'projectIds'>, projectId: string | null): boolean =>
  projectIds === undefined || (projectId !== null && projectIds.includes(projectId))

/** Name of the default group. Without a group of this name the oldest is the default. */
export const DEFAULT_GROUP_NAME = 'default'

/** @param groups oldest first */
export const defaultGroupOf = <T extends Pick<NodeGroup, 'name'>>(groups: readonly T[]): T | null =>
  groups.find(({ name }) => name === DEFAULT_GROUP_NAME) ?? groups[0] ?? null

/** The fields that may be shown. */
export const publicNodeGroup = nodeGroup.omit({ flowsKey: true })
