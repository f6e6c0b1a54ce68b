import { z } from 'zod'
import { endpointIpText, metaShape, port, uuid } from '../scalars/scalars.ts'

/** Numbers that no speaker may have: RFC 7607, RFC 6793 (AS_TRANS) and RFC 7300. */
const RESERVED_AS: ReadonlySet<number> = new Set([0, 23_456, 65_535, 4_294_967_295])

export const asNumber = z
  .number()
  .int()
  .min(0)
  .max(4_294_967_295)
  .refine((as) => !RESERVED_AS.has(as), 'is reserved: no router may have it')

/** Seconds. RFC 4271 section 4.2 allows no hold time of 1 or 2. */
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

/** Replaces a secret in responses. A request that sends it back keeps the stored secret. */
export const REDACTED_SECRET = '[redacted]'

/**
 * A router that nodes peer with, or a template for such peers. A null field is taken from the template, and if it is
 * null there from `BGP_PEER_DEFAULTS`.
 */
export const bgpPeer = z.strictObject({
  ...metaShape,
  /** A template is not a peer itself. Peers that name it inherit their null fields from it. */
  template: z.boolean().default(false),
  templateId: uuid.nullable().default(null),
  /**
   * Null is an unnumbered session: the peer is the link-local address of the only neighbour on the fabric interface.
   */
  address: endpointIpText.nullable().default(null),
  port: port.nullable().default(null),
  as: asNumber.nullable().default(null),
  /** Hops to the peer. 1 is directly connected. */
  hops: z.number().int().min(1).max(255).nullable().default(null),
  /** GTSM (RFC 5082): packets with a lower TTL than `hops` allows are dropped. The router must do the same. */
  ttlSecurity: z.boolean().nullable().default(null),
  /** TCP MD5 signature (RFC 2385). Empty: none, even if the template has one. It is never shown. */
  md5Secret: z
    .string()
    // BIRD's configuration cannot express a quotation mark.
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
  /** Graceful restart (RFC 4724): how long the peer keeps our routes. 0 switches it off. */
  gracefulRestartS: z.number().int().min(0).max(4095).nullable().default(null),
  /** Prefixes beyond this number are dropped and reported for the session, which stays up. */
  prefixLimit: z.number().int().min(1).max(1_000_000).nullable().default(null),
  /**
   * The nodes that peer with it: by group, by id, or both. Null: every node of every group whose announcer is `bgp`.
   */
  nodeSelection: z
    .strictObject({ nodeGroupIds: z.array(uuid).max(100).default([]), nodeIds: z.array(uuid).max(1000).default([]) })
    .nullable()
    .default(null),
})
export type BgpPeer = z.infer<typeof bgpPeer>

/** The fields that a peer can inherit from a template. */
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

/**
 * A peer with the values of its template and the defaults filled in. `as` is null if neither peer nor template sets it.
 */
export type EffectiveBgpPeer = {
  readonly [K in (typeof TEMPLATED)[number]]: K extends 'as' ? number | null : NonNullable<BgpPeer[K]>
}

/** Times are short, so that a returning node has its sessions within seconds. BFD detects a lost peer. */
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

/**
 * Each field is the peer's own, else the template's, else the default. The families default to that of the peer's
 * address.
 */
export function effectiveBgpPeer(peer: BgpPeer, template: BgpPeer | null): EffectiveBgpPeer {
  const own: Record<string, unknown> = { ...BGP_PEER_DEFAULTS }
  if (peer.address !== null) own.families = [peer.address.includes(':') ? 'ipv6' : 'ipv4']
  for (const source of [template, peer])
    for (const field of TEMPLATED) if (source !== null && source[field] !== null) own[field] = source[field]
  return own as EffectiveBgpPeer
}

/** An advertisement may not use this community: draining sends it (RFC 8326). */
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
      context.addIssue({ code: 'custom', message: '65535:0 is GRACEFUL_SHUTDOWN: draining a node sends it' })
  })

/** How the addresses of some pools are announced to routers. */
export const bgpAdvertisement = z.strictObject({
  ...metaShape,
  /** Small number that we assign. 1 is `PLAIN_ADVERTISEMENT`. */
  number: z.number().int().min(2).max(1000),
  /** The address pools that it applies to. Null is every pool that no other advertisement names. */
  addressPoolIds: z.array(uuid).max(100).nullable().default(null),
  communities: z.array(community).max(32).default([]),
  localPreference: z.number().int().min(0).max(4_294_967_295).nullable().default(null),
  med: z.number().int().min(0).max(4_294_967_295).nullable().default(null),
  /** Announces the prefix of this length around the address instead of the address. */
  aggregateLength4: z.number().int().min(8).max(32).nullable().default(null),
  aggregateLength6: z.number().int().min(16).max(128).nullable().default(null),
  /** The peers that it is sent to; null is all. */
  peerIds: z.array(uuid).max(100).nullable().default(null),
})
export type BgpAdvertisementIntent = z.infer<typeof bgpAdvertisement>

/** Number of the plain advertisement, used where no other applies: no attributes, to every peer. */
export const PLAIN_ADVERTISEMENT = 1
