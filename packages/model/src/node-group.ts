import { z } from 'zod'
import { asNumber } from './bgp.ts'
import { metaShape, timestamp, uuid } from './scalars.ts'

/**
 * How the nodes of a group make addresses known: `l2`, one node per network answers for it and the control plane moves it;
 * `vrrp`, the nodes settle it among themselves by shard; `bgp`, every node tells its routers.
 */
export const ANNOUNCERS = ['l2', 'vrrp', 'bgp'] as const
export type AnnouncerName = (typeof ANNOUNCERS)[number]

/** How fast a silent master is given up, and what that asks of the machines. */
export const VRRP_PROFILES = ['default', 'fast', 'relaxed'] as const
export type VrrpProfile = (typeof VRRP_PROFILES)[number]

export const MOST_SHARDS = 16

/** A VRID (RFC 5798 section 5.2.3). */
const routerId = z.number().int().min(1).max(255)

export const vrrpSettings = z.strictObject({
  profile: z.enum(VRRP_PROFILES).default('default'),
  /** Parts of the group's VIPs that move on their own; a tenant network's VIPs are all in one. */
  shards: z.number().int().min(1).max(MOST_SHARDS).default(4),
  /** One per shard, in order of their numbers; unique over all groups. Empty while the group announces by `l2`. */
  routerIds: z.array(routerId).max(MOST_SHARDS).default([]),
  /** Ids that others use on the segment: never given to a shard. */
  excludedRouterIds: z.array(routerId).max(255).default([]),
})
export type GroupVrrp = z.infer<typeof vrrpSettings>

export const groupBgpSettings = z.strictObject({
  localAs: asNumber,
  /** `healthy` announces an address only while a member of its load balancer is up. */
  policy: z.enum(['always', 'healthy']).default('healthy'),
  /** How long a draining node asks the routers to prefer others before it announces nothing. */
  drainSeconds: z.number().int().min(0).max(3600).default(10),
})
export type GroupBgp = z.infer<typeof groupBgpSettings>

/** So long a node that was drained goes on with the connections of its proxies; 0 ends them with the move. */
const secondChanceSeconds = z.number().int().min(0).max(3600)
export const DEFAULT_SECOND_CHANCE_S = 300

/** A planned move of a shard from one live node to another. */
export const plannedMove = z.strictObject({
  shard: z.number().int().min(1).max(MOST_SHARDS),
  fromNodeId: uuid,
  toNodeId: uuid,
})
export type PlannedMove = z.infer<typeof plannedMove>

/** Nodes that stand in for each other. */
export const nodeGroup = z.strictObject({
  ...metaShape,
  announcer: z.enum(ANNOUNCERS),
  vrrp: vrrpSettings.prefault({}),
  /** Needed by announcer `bgp`, which also takes the shards for addresses inside tenant networks. */
  bgp: groupBgpSettings.nullable().default(null),
  secondChanceSeconds: secondChanceSeconds.default(DEFAULT_SECOND_CHANCE_S),
  /**
   * Shards that were last asked to go to other nodes, one after the other until one fails or its time is over. Their new
   * owners stay the first to begin with them.
   */
  rebalance: z.strictObject({ askedAt: timestamp, moves: z.array(plannedMove).max(MOST_SHARDS) }).optional(),
  /** Shards are evened out by themselves once nothing has changed for so long; left out or 0: never. */
  rebalanceAfterSeconds: z.number().int().min(0).max(86_400).optional(),
  /** Projects whose load balancers may name it; left out, all may. What names no group is in the default one, whoever's it is. */
  projectIds: z.array(uuid).max(10_000).optional(),
  /** What its nodes prove to know when they tell each other of flows: hex, made with the group, shown to nobody else. */
  flowsKey: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
})
export type NodeGroup = z.infer<typeof nodeGroup>

/** Whether a load balancer of this project may name the group. */
export const mayUseGroup = ({ projectIds }: Pick<NodeGroup, 'projectIds'>, projectId: string | null): boolean =>
  projectIds === undefined || (projectId !== null && projectIds.includes(projectId))

/** The group that carries what names none: the one of this name, else the oldest. */
export const DEFAULT_GROUP_NAME = 'default'

/** What may be shown of it. */
export const publicNodeGroup = nodeGroup.omit({ flowsKey: true })
