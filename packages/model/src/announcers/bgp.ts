import { z } from 'zod'
import { asNumber } from '../bgp.ts'
import type { AnnouncerDescriptor } from './announcer.ts'

/** Every node tells its routers (RFC 4271). Addresses inside tenant networks, which no router knows, go by VRRP shard. */
export const bgp = {
  name: 'bgp',
  announcedBy: 'every-node',
  electedBy: 'vrrp',
  needs: { settings: 'bgp', field: 'localAs' },
  place: 'to routers',
} as const satisfies AnnouncerDescriptor

/**
 * On every node of the group; with policy `healthy` only while a member is up; with a shard only while this node is its
 * master, because members' replies come back to it.
 */
export interface BgpAnnounce {
  readonly via: 'bgp'
  readonly advertisement: number
  readonly policy: 'always' | 'healthy'
  readonly shard: number | null
}

export const groupBgpSettings = z.strictObject({
  localAs: asNumber,
  /** `healthy` announces an address only while its load balancer has a member that is up. */
  policy: z.enum(['always', 'healthy']).default('healthy'),
  /** How long a draining node asks routers to prefer others before it withdraws its routes. */
  drainSeconds: z.number().int().min(0).max(3600).default(10),
})
export type GroupBgp = z.infer<typeof groupBgpSettings>
