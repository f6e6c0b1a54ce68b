import { z } from 'zod'
import type { AnnouncerDescriptor } from './announcer.ts'
import { announcerSettings } from './settings.ts'

/** How fast a silent master is replaced. A faster profile needs machines with more precise timing. */
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

/** The nodes elect a master for each shard, which answers ARP and NDP for its VIPs (VRRPv3, RFC 5798). */
export const vrrp = {
  name: 'vrrp',
  announcedBy: 'shard-master',
  electedBy: 'vrrp',
  settings: announcerSettings(vrrpSettings, {
    shards: {
      description: 'Parts of the group whose addresses move on their own.',
      option: { flags: '--shards <count>', help: 'parts of the VIPs that move on their own, 1 to 16' },
      column: { title: 'SHARDS' },
    },
    profile: {
      description: 'How fast a silent master is given up.',
      option: { flags: '--profile <profile>', help: 'of vrrp: default, fast or relaxed' },
      column: { title: 'PROFILE' },
    },
    routerIds: {
      description: 'One VRID per shard; left out, free ones are taken.',
      option: {
        flags: '--router-ids <ids>',
        help: 'one VRRP router id per shard, comma-separated; given out unless named',
      },
      column: { title: 'ROUTER IDS', wide: true },
    },
    excludedRouterIds: {
      description: 'VRIDs that others use on the segment.',
      option: {
        flags: '--exclude-router-ids <ids>',
        help: 'VRRP router ids that others use on the segment, comma-separated',
      },
      column: { title: 'EXCLUDED IDS', wide: true },
    },
  }),
  place: 'on the segment',
} as const satisfies AnnouncerDescriptor

/** The node announces the address while it is master of the shard. */
export interface VrrpAnnounce {
  readonly via: 'vrrp'
  readonly shard: number
}

/** The VRRP settings that a node of the group is sent. Null: it takes part in no shard. */
export interface VrrpPart {
  readonly vrrp: VrrpSettings | null
}

/**
 * VRRPv3 (RFC 5798) with unicast peers. The node adds and removes a shard's VIPs itself when the shard's state changes.
 */
export interface VrrpSettings extends VrrpPeers {
  readonly shards: readonly VrrpShard[]
  /** The node is drained: it gives up its shards and takes none. */
  readonly yield: boolean
}

/** Who elects a master, and how fast. */
export interface VrrpPeers {
  /** Fabric addresses of this node and of the group's other nodes, of one family. */
  readonly source: string
  readonly peers: readonly string[]
  /** Interval between adverts: a multiple of 10 ms, 10 to 40,950 (RFC 5798 section 5.2.7). */
  readonly advertMs: number
  /** How many adverts in a row must be missed before another node takes over. RFC 5798 says 3. */
  readonly missedAdverts: number
}

export interface VrrpShard {
  /** 1 to 16, the same on every node of the group; or `LOCAL_SHARD`. */
  readonly number: number
  /** VRID, 1 to 255; unique over all groups. */
  readonly routerId: number
  /** 1 to 254, different on each node of a shard. It only decides the first master: there is no preemption. */
  readonly priority: number
  /**
   * If the node owns the shard, it gives it up once. The value is the time of the request (RFC 3339) and identifies it.
   */
  readonly handOver?: string
  /**
   * The nodes and times of a shard that is not the group's, and that a drain does not concern: `LOCAL_SHARD`. Absent:
   * those of the group.
   */
  readonly apart?: VrrpPeers
}
