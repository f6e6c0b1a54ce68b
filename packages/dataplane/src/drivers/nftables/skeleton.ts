import { createHash } from 'node:crypto'
import { SEGMENT, UPLINK } from '../../domain/domain-names.ts'
import {
  CLASS_MASK,
  HASH_CLASSES,
  HASH_SEED,
  type HashClass,
  POOL_MASK,
  SERVICE_FLAGS,
  SPECIAL_MASK,
} from './pool-mark.ts'
import { SET_NAMES, SETS } from './sets.ts'

export const SPOUT_TABLE = 'spout'
/** A map of one element that names what was applied last: it changes in the same transaction as everything else. */
export const GENERATION_MAP = 'generation'

/**
 * The table without its elements: the same in every domain, whatever it serves. Nat chains see the first packet of a
 * flow alone; what they do not translate is local to the domain and refused there by its guard.
 */
function body(): readonly string[] {
  return [
    `  map ${GENERATION_MAP} { type mark : ipv6_addr; }`,
    ...SET_NAMES.flatMap((name) => {
      const { kind, type, interval, countOver, counter } = SETS[name]
      const head = `  ${kind} ${name} {`
      // Only a dynamic set may hold elements that count connections.
      const flags = interval ? ['    flags interval'] : countOver ? ['    flags dynamic'] : []
      return [head, `    type ${type}`, ...flags, ...(counter ? ['    counter'] : []), '  }']
    }),
    ...chain('prerouting', 'type nat hook prerouting priority dstnat; policy accept;', [
      'meta mark set 0',
      ...usual(4),
      ...usual(6),
      `meta mark & ${hex(SPECIAL_MASK)} == 0 accept`,
      'meta nfproto ipv4 goto special4',
      'meta nfproto ipv6 goto special6',
    ]),
    ...chain('special4', null, special(4)),
    ...chain('special6', null, special(6)),
    ...chain('postrouting', 'type nat hook postrouting priority srcnat; policy accept;', [
      'ct status dnat accept',
      `iifname "${SEGMENT}" oifname "${UPLINK}" snat ip to ip saddr . meta l4proto . th sport map @reverse4`,
      `iifname "${SEGMENT}" oifname "${UPLINK}" snat ip6 to ip6 saddr . meta l4proto . th sport map @reverse6`,
    ]),
    ...counted(),
  ]
}

/** A key with it is of TCP or UDP: maps hold no other. */
const PORT_KEY = 'meta l4proto . th dport'

/**
 * Packets of balanced flows alone: what goes to or comes from the proxy is not forwarded, and costs nothing here. The
 * flow tells its VIP whatever was translated already; one that began with a reply (its requests went through another
 * node) has it at its other end. Every packet pays for each expression it meets: the common case comes first, and what
 * the key compares anyway (the family, by the address) is not matched before. nft knows the type of `proto-dst` only
 * behind a match of the protocol.
 */
function counted(): readonly string[] {
  return [
    ...chain('counted', 'type filter hook forward priority filter + 10; policy accept;', [
      'ct direction reply goto counted-replies',
      ...counting('original', 'received'),
      ...counting('reply', 'sent'),
    ]),
    ...chain('counted-replies', null, [...counting('original', 'sent'), ...counting('reply', 'received')]),
  ]
}

/** Rules that count a packet at the VIP which the flow has at this end. */
const counting = (end: 'original' | 'reply', set: 'received' | 'sent'): readonly string[] =>
  (['tcp', 'udp'] as const).flatMap((transport) =>
    ([4, 6] as const).map((version) => {
      const ip = version === 4 ? 'ip' : 'ip6'
      const service = `ct ${end} ${ip} daddr . meta l4proto . ct ${end} proto-dst`
      return `meta l4proto ${transport} ${service} @${set}${version} accept`
    }),
  )

/**
 * The whole way of a new flow to a usual service, in one rule: each rule less is measured in its connect time. A lookup
 * that misses ends the rule; the mark says whether it was the first one (0), or the service is not a usual one.
 */
function usual(version: 4 | 6): readonly string[] {
  const service = serviceKey(version)
  const { bits } = HASH_CLASSES[0]!
  return [
    [
      `meta mark set ${service} map @service${version} meta mark & ${hex(SPECIAL_MASK)} == ${hex(bits)}`,
      `${service} @opened${version} ${balance(version, HASH_CLASSES[0]!)}`,
    ].join(' '),
  ]
}

/** Everything that a service may have: its mark is set already. */
function special(version: 4 | 6): readonly string[] {
  const ip = version === 4 ? 'ip' : 'ip6'
  const service = serviceKey(version)
  const flagged = (flag: keyof typeof SERVICE_FLAGS) => `meta mark & ${hex(SERVICE_FLAGS[flag])} != 0`
  return [
    `${flagged('restricted')} ${service} . ${ip} saddr != @allowed${version} drop`,
    `${flagged('limited')} ct mark set ${service} map @limited${version} ct mark @limits accept`,
    `${flagged('proxied')} dnat ${ip} to ${service} map @front${version}`,
    `${service} @opened${version}`,
    `meta mark set meta mark & ${hex(POOL_MASK)}`,
    ...HASH_CLASSES.map((each) => `meta mark & ${hex(CLASS_MASK)} == ${hex(each.bits)} ${balance(version, each)}`),
  ]
}

const serviceKey = (version: 4 | 6): string => `${version === 4 ? 'ip' : 'ip6'} daddr . ${PORT_KEY}`

/** From the pool's mark to the member; a slot without one ends the rule. */
function balance(version: 4 | 6, { size, sourceAffinity }: HashClass): string {
  const ip = version === 4 ? 'ip' : 'ip6'
  const source = sourceAffinity ? `${ip} saddr` : `${ip} saddr . th sport`
  const slot = `ct mark set jhash ${source} mod ${size} seed ${hex(HASH_SEED)}`
  return `${slot} meta l4proto { tcp, udp } dnat ${ip} to meta mark . ct mark map @member${version}`
}

const hex = (value: number): string => `0x${value.toString(16).padStart(8, '0')}`

const chain = (name: string, hook: string | null, rules: readonly string[]): readonly string[] => [
  `  chain ${name} {`,
  ...(hook === null ? [] : [`    ${hook}`]),
  ...rules.map((rule) => `    ${rule}`),
  '  }',
]

/** nft commands that replace the table by an empty one in one transaction, and the mark by which it is known. */
export function renderSkeleton(): { readonly text: string; readonly mark: string } {
  const lines = body()
  const mark = createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 32)
  const table = `inet ${SPOUT_TABLE}`
  const head = [`add table ${table}`, `delete table ${table}`, `table ${table} {`, `  comment "${mark}"`]
  return { text: `${[...head, ...lines, '}'].join('\n')}\n`, mark }
}
