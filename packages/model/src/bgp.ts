import { z } from 'zod'
import { endpointIpText, metaShape, port, uuid } from './scalars.ts'

/** Numbers no speaker may have: RFC 7607, RFC 6793 (AS_TRANS) and RFC 7300. */
const RESERVED_AS: ReadonlySet<number> = new Set([0, 23_456, 65_535, 4_294_967_295])

export const asNumber = z
  .number()
  .int()
  .min(0)
  .max(4_294_967_295)
  .refine((as) => !RESERVED_AS.has(as), 'is reserved: no router may have it')

/** Seconds; RFC 4271 section 4.2 allows no hold time of 1 or 2. */
const holdTimeS = z.number().int().min(3, 'must be at least 3 (RFC 4271)').max(65_535)

export const bfdSettings = z.union([
  z.enum(['none', 'default', 'fast']),
  z.strictObject({
    minTransmitMs: z.number().int().min(5).max(60_000),
    minReceiveMs: z.number().int().min(5).max(60_000),
    multiplier: z.number().int().min(1).max(255),
  }),
])
export type BfdSettings = z.infer<typeof bfdSettings>

/** What is shown in the place of a secret, and means the stored one when it is written back. */
export const REDACTED_SECRET = '[redacted]'

/**
 * A router that nodes speak BGP with, or a template for such. What is null is taken from the template, and from
 * `BGP_PEER_DEFAULTS` where that says nothing either.
 */
export const bgpPeer = z.strictObject({
  ...metaShape,
  /** A template is no peer itself; peers take what they do not say from it. */
  template: z.boolean().default(false),
  templateId: uuid.nullable().default(null),
  /** Null is unnumbered: the link-local address of the only neighbour on the fabric interface. */
  address: endpointIpText.nullable().default(null),
  port: port.nullable().default(null),
  as: asNumber.nullable().default(null),
  /** Hops to the peer: 1 is directly connected. */
  hops: z.number().int().min(1).max(255).nullable().default(null),
  /** GTSM (RFC 5082): what arrives with a lower TTL than `hops` allows is dropped. The router must do the same. */
  ttlSecurity: z.boolean().nullable().default(null),
  /** TCP MD5 signature (RFC 2385). Empty is none, whatever the template says. Never shown again. */
  md5Secret: z
    .string()
    // BIRD has no way to write a quotation mark into its configuration.
    .regex(/^[\x21\x23-\x7e]*$/, 'must have printable ASCII characters without spaces and quotation marks')
    .max(80)
    .nullable()
    .default(null),
  holdTimeS: holdTimeS.nullable().default(null),
  keepaliveTimeS: z.number().int().min(1).max(21_845).nullable().default(null),
  connectRetryS: z.number().int().min(1).max(3600).nullable().default(null),
  families: z
    .array(z.enum(['ipv4', 'ipv6']))
    .min(1)
    .max(2)
    .nullable()
    .default(null),
  bfd: bfdSettings.nullable().default(null),
  /** Graceful restart (RFC 4724): how long the peer keeps our routes; 0 is off. */
  gracefulRestartS: z.number().int().min(0).max(4095).nullable().default(null),
  /** Prefixes from the peer beyond so many are dropped and said of the session, which goes on. */
  prefixLimit: z.number().int().min(1).max(1_000_000).nullable().default(null),
  /** Nodes that speak with it, by group, by id, or both; null is every node of every group that announces by `bgp`. */
  nodeSelection: z
    .strictObject({ nodeGroupIds: z.array(uuid).max(100).default([]), nodeIds: z.array(uuid).max(1000).default([]) })
    .nullable()
    .default(null),
})
export type BgpPeer = z.infer<typeof bgpPeer>

/** The fields that a template can say. */
export const TEMPLATED = [
  'port',
  'as',
  'hops',
  'ttlSecurity',
  'md5Secret',
  'holdTimeS',
  'keepaliveTimeS',
  'connectRetryS',
  'families',
  'bfd',
  'gracefulRestartS',
  'prefixLimit',
] as const satisfies readonly (keyof BgpPeer)[]

/** A peer with its template and the defaults filled in. `as` is null while nobody said it. */
export type EffectiveBgpPeer = {
  readonly [K in (typeof TEMPLATED)[number]]: K extends 'as' ? number | null : NonNullable<BgpPeer[K]>
}

/** Short times, so that a node that returns has its sessions again within seconds; loss is found by BFD. */
export const BGP_PEER_DEFAULTS = {
  port: 179,
  as: null,
  hops: 1,
  ttlSecurity: false,
  md5Secret: '',
  holdTimeS: 9,
  keepaliveTimeS: 3,
  connectRetryS: 2,
  families: ['ipv4', 'ipv6'],
  bfd: 'default',
  gracefulRestartS: 30,
  prefixLimit: 100,
} as const satisfies EffectiveBgpPeer

/** The peer's own words over its template's over the defaults. A session over one family speaks that alone unless told. */
export function effectiveBgpPeer(peer: BgpPeer, template: BgpPeer | null): EffectiveBgpPeer {
  const own: Record<string, unknown> = { ...BGP_PEER_DEFAULTS }
  if (peer.address !== null) own.families = [peer.address.includes(':') ? 'ipv6' : 'ipv4']
  for (const source of [template, peer])
    for (const field of TEMPLATED) if (source !== null && source[field] !== null) own[field] = source[field]
  return own as EffectiveBgpPeer
}

/** Who is never in a pool's own advertisement: draining says it (RFC 8326). */
const GRACEFUL_SHUTDOWN = '65535:0'

/** `AS:VALUE` (RFC 1997) or `AS:VALUE:VALUE` (large, RFC 8092), decimal. */
const community = z
  .string()
  .max(40)
  .superRefine((text, context) => {
    const parts = text.split(':')
    const most = parts.length === 3 ? 4_294_967_295 : 65_535
    const wellFormed =
      (parts.length === 2 || parts.length === 3) &&
      parts.every((part) => /^(0|[1-9][0-9]{0,9})$/.test(part) && Number(part) <= most)
    if (!wellFormed)
      context.addIssue({
        code: 'custom',
        message:
          'is not a community: AS:VALUE with numbers up to 65535, or AS:VALUE:VALUE with numbers up to 4294967295',
      })
    else if (text === GRACEFUL_SHUTDOWN)
      context.addIssue({ code: 'custom', message: '65535:0 is GRACEFUL_SHUTDOWN: draining a node says it' })
  })

/** What is said to the routers with the addresses of some pools. */
export const bgpAdvertisement = z.strictObject({
  ...metaShape,
  /** Small number made by us; 1 is what is said where no advertisement applies: nothing, to every peer. */
  number: z.number().int().min(2).max(1000),
  /** Address pools it is for; null is every pool that no other names. */
  addressPoolIds: z.array(uuid).max(100).nullable().default(null),
  communities: z.array(community).max(32).default([]),
  localPreference: z.number().int().min(0).max(4_294_967_295).nullable().default(null),
  med: z.number().int().min(0).max(4_294_967_295).nullable().default(null),
  /** Announce the prefix of this length that holds the address in place of the address. */
  aggregateLength4: z.number().int().min(8).max(32).nullable().default(null),
  aggregateLength6: z.number().int().min(16).max(128).nullable().default(null),
  /** Peers it goes to; null is all. */
  peerIds: z.array(uuid).max(100).nullable().default(null),
})
export type BgpAdvertisementIntent = z.infer<typeof bgpAdvertisement>

/** The number of what is said where no advertisement applies. */
export const PLAIN_ADVERTISEMENT = 1
