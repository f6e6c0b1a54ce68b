import { z } from 'zod'
import type { AnnouncerDescriptor } from './announcer.ts'
import { asNumber } from './bgp-peer.ts'
import { announcerSettings } from './settings.ts'

export const groupBgpSettings = z.strictObject({
  localAs: asNumber,
  /** `healthy` announces an address only while its load balancer has a member that is up. */
  policy: z.enum(['always', 'healthy']).default('healthy'),
  /** How long a draining node asks routers to prefer others before it withdraws its routes. */
  drainSeconds: z.number().int().min(0).max(3600).default(10),
})
export type GroupBgp = z.infer<typeof groupBgpSettings>

/**
 * Every node announces to its routers (RFC 4271). No router knows tenant networks: addresses in them follow a VRRP
 * shard.
 */
export const bgp = {
  name: 'bgp',
  announcedBy: 'every-node',
  electedBy: 'vrrp',
  settings: announcerSettings(groupBgpSettings, {
    localAs: {
      description: "The AS of the group's nodes.",
      option: { flags: '--local-as <as>', help: "of bgp: the nodes' own AS" },
      column: { title: 'LOCAL AS' },
    },
    policy: {
      description: 'healthy: only while a member is up.',
      option: { flags: '--policy <policy>', help: 'of bgp: always, or healthy (while a member is up)' },
      column: { title: 'POLICY', wide: true },
    },
    drainSeconds: {
      description: 'How long a draining node asks routers to prefer other nodes before it announces nothing.',
      option: {
        flags: '--drain-seconds <s>',
        help: 'of bgp: how long a draining node asks routers to prefer other nodes',
      },
      column: { title: 'DRAIN S', wide: true },
    },
  }),
  place: 'to routers',
} as const satisfies AnnouncerDescriptor

/**
 * The node announces the address to its routers. With policy `healthy` it does so only while a member is up. With a
 * shard it does so only while it is the shard's master, because members send their replies to that node.
 */
export interface BgpAnnounce {
  readonly via: 'bgp'
  readonly advertisement: number
  readonly policy: 'always' | 'healthy'
  readonly shard: number | null
}

/** The BGP settings that a node of the group is sent. Null: no BGP. */
export interface BgpPart {
  readonly bgp: BgpSettings | null
}

export interface BgpSettings {
  /** BGP identifier (RFC 6286): dotted IPv4, unique among the routers of an AS. */
  readonly routerId: string
  /** 1 to 4,294,967,294. */
  readonly localAs: number
  readonly peers: readonly BgpPeerSettings[]
  readonly advertisements: readonly BgpAdvertisement[]
  /**
   * `none`; `prefer-others`: announce with GRACEFUL_SHUTDOWN (RFC 8326) and local preference 0; `withdrawn`: keep the
   * sessions, announce nothing.
   */
  readonly drain: 'none' | 'prefer-others' | 'withdrawn'
}

export interface BgpPeerSettings {
  /** The peer's id in the model. */
  readonly id: string
  /** Null is an unnumbered session (link-local address of the only neighbour on the fabric interface). */
  readonly address: string | null
  readonly port: number
  readonly as: number
  /** Null: the kernel chooses. */
  readonly sourceAddress: string | null
  /** Hops to the peer. 1 is directly connected; more is a multihop session. */
  readonly hops: number
  /**
   * GTSM (RFC 5082): packets with a lower TTL than `hops` allows are dropped. The peer must do the same. Default false.
   */
  readonly ttlSecurity?: boolean
  /** TCP MD5 signature (RFC 2385); printable ASCII, at most 80 characters. */
  readonly md5Secret: string | null
  readonly holdTimeS: number
  readonly keepaliveTimeS: number
  readonly connectRetryS: number
  /** Address families announced over the session. */
  readonly families: readonly ('ipv4' | 'ipv6')[]
  readonly bfd: BfdProfile | null
  /** Graceful restart (RFC 4724): how long the peer keeps our routes. Null is off. */
  readonly gracefulRestartS: number | null
  /** Prefixes from the peer beyond this number are dropped. Routes from a peer are never used. */
  readonly prefixLimit: number
}

/** RFC 5880. */
export interface BfdProfile {
  readonly minTransmitMs: number
  readonly minReceiveMs: number
  readonly multiplier: number
}

/** How an address is announced. `Announce.advertisement` refers to it by number. */
export interface BgpAdvertisement {
  /** 1 to 1,000. */
  readonly number: number
  /** `AS:VALUE` (RFC 1997) or `AS:VALUE:VALUE` (large, RFC 8092). */
  readonly communities: readonly string[]
  /** Null is the default. */
  readonly localPreference: number | null
  readonly med: number | null
  /** Announces the prefix of this length around the address instead of the address; null is /32 and /128. */
  readonly aggregateLength4: number | null
  readonly aggregateLength6: number | null
  /** Ids of the peers that it is sent to; null is all. */
  readonly peerIds: readonly string[] | null
}
