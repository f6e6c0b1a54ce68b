import { z } from 'zod'
import type { AnnouncerDescriptor } from './announcer.ts'

/** The nodes settle among themselves, by shard, who answers ARP and NDP (VRRPv3, RFC 5798). */
export const vrrp = {
  name: 'vrrp',
  announcedBy: 'shard-master',
  electedBy: 'vrrp',
  place: 'on the segment',
} as const satisfies AnnouncerDescriptor

/** While this node is master of the shard. */
export interface VrrpAnnounce {
  readonly via: 'vrrp'
  readonly shard: number
}

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
  /** One per shard, by shard number; unique over all groups. Empty for an announcer without shards. */
  routerIds: z.array(routerId).max(MOST_SHARDS).default([]),
  /** Ids that other routers on the segment use. No shard gets one. */
  excludedRouterIds: z.array(routerId).max(255).default([]),
})
export type GroupVrrp = z.infer<typeof vrrpSettings>
